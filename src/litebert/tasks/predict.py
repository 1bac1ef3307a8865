"""What does a finished fine-tuning say of texts? One answer each, in their order, as many as there may be.

Texts are taken a few thousand at a time and stand beside others of like length while the model reads them: hardly any
padding is read, and memory does not grow. The next ones are laid out while the model reads these.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch

from litebert.data.ahead import ahead
from litebert.errors import UserError
from litebert.model import packing
from litebert.model.model import Model
from litebert.tasks import given, trained, untold
from litebert.tasks.batches import BUDGET, Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Choice, Example, Question, Text, Words
from litebert.tasks.readers.columns import Kind
from litebert.tasks.trained import Trained
from litebert.tasks.windows import dress_of
from litebert.train import precision as numbers
from litebert.train.precision import Chosen, Precision

WINDOW, FIRST = 8192, 256  # texts that are laid out together; the first time few, so that answers come soon
LETTERS = 1 << 23  # characters of them, however few texts that are
GPU_TOKENS = 1 << 16  # of a batch on a GPU, padding included
DEVICES = ("auto", "cpu", "cuda")


class Said(NamedTuple):
    """An answer beside what was asked."""

    example: Example
    answer: Any  # as the task has it: Classified, Labelled, Scored, Tagged, Answered, Chosen
    tokens: int  # real ones that were read for it


class Predictor:
    """A model that answers. It takes the model over: its weights are cast and laid out to be read, not to be saved."""

    def __init__(
        self, found: Trained, precision: Precision = "auto", batch_tokens: int = 0, window: int = WINDOW
    ) -> None:  # fmt: skip
        """batch_tokens: read at once at most, padding included; 0 = what suits the machine."""
        if batch_tokens < 0 or window < 1:
            raise UserError(f"batch_tokens {batch_tokens} and window {window}: choose 0 or more, and 1 or more")
        self.trained, self.task, self.kind = found, found.task, cast("Kind", found.task.kind)
        self.device = next(found.model.parameters()).device
        self.chosen = numbers.choose(precision, self.device)
        self._window, self._budget = window, batch_tokens or (BUDGET if self.device.type == "cpu" else GPU_TOKENS)
        self._model, self._computing = found.model, self.chosen
        if self.chosen.dtype == torch.bfloat16 and isinstance(found.model, Model):  # once, not in every product
            self._model = found.model.to(torch.bfloat16)
            self._computing = Chosen(torch.float32, "the weights are bfloat16 themselves", self.device.type)
        if isinstance(found.model, Model):
            packing.pack(found.model)

    def answers(self, texts: Any) -> list[Any]:
        """The answers to one text or to many, as `predict` takes them."""
        return [said.answer for said in self.stream(given.of_values(texts, self.kind))]

    def stream(self, examples: Iterable[Example]) -> Generator[Said, None, None]:
        """Answers one by one, in the order of the examples."""
        with closing(self.windows(examples)) as found:
            for window in found:
                yield from window

    def windows(self, examples: Iterable[Example], *, waiting: bool = True) -> Generator[list[Said], None, None]:
        """Answers as they come. waiting=False: what is there is read at once, nobody waits for more."""
        if not waiting:
            for group in arriving(examples, self._window):
                yield self._said(self.asked(group))
            return
        with closing(ahead(map(self.asked, _grouped(examples, self._window)), 1)) as made:
            for asked in made:
                yield self._said(asked)

    def asked(self, examples: Sequence[Example]) -> Asked:
        """Examples laid out in batches."""
        items, tokenizer = self.task.items(examples, self.trained.tokenizer), self.trained.tokenizer
        config = self.trained.model.config
        segments = config.segments > 1 or config.positions == "relative"
        table = Table(items, tokenizer.specials.pad, segments=segments, left=dress_of(tokenizer).left,
                      device=self.device)  # fmt: skip
        return Asked(self.task, examples, table, self._budget)

    def judged(self, asked: Asked) -> tuple[list[Any], float | None]:
        """The answers, and the loss where the right ones are known."""
        with torch.inference_mode():
            found = asked.answers(self._model, self._computing)
        return found.predictions, found.loss

    def _said(self, asked: Asked) -> list[Said]:
        answers, _ = self.judged(asked)
        tokens = [0] * len(asked.examples)
        for item, count in zip(asked.table.items, asked.table.tokens.tolist(), strict=True):
            tokens[item.example] += count
        return list(map(Said, asked.examples, map(_placed, asked.examples, answers), tokens))


def predict(
    folder: str | Path, texts: Any, *, device: str = "auto", precision: Precision = "auto", batch_tokens: int = 0
) -> list[Any]:  # fmt: skip
    """What a fine-tuning says of one text or many: `predict("run", ["a fine film", "a dull one"])[0].prediction`.

    A pair is a tuple of two texts, as are question and context; what has more parts is a dict with the columns of its
    kind. Answers come in a list, also that of one text. Who asks often keeps `opened(folder)` and its `answers`.
    """
    return opened(folder, device=device, precision=precision, batch_tokens=batch_tokens)[0].answers(texts)


def opened(
    folder: str | Path, *, device: str = "auto", precision: Precision = "auto", batch_tokens: int = 0,
    window: int = WINDOW,
) -> tuple[Predictor, list[str]]:  # fmt: skip
    """The model of a fine-tuning's folder, or one of transformers with a head; and what had to be assumed, in words."""
    where = device_of(device)
    remarks: list[str] = []
    if untold.is_foreign(Path(folder)):
        found, remarks = untold.load(Path(folder), where)
    else:
        found = trained.load(folder, where)
    return Predictor(found, precision, batch_tokens, window), remarks


def device_of(name: str) -> torch.device:
    """Where the model computes; auto: on a GPU, if there is one."""
    if name not in DEVICES:
        raise UserError(f"device {name!r} is unknown: choose {', '.join(DEVICES)}")
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device cuda: no GPU is found here, choose cpu or auto")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def _placed(example: Example, answer: Any) -> Any:
    """Of words, entities with the characters of their text; all other answers as they are."""
    if not isinstance(example, Words):
        return answer
    text, spans = given.text_of(example), given.spans(example) if answer.entities else []
    found = []
    for one in answer.entities:
        begin, end = spans[one["start"]][0], spans[one["end"] - 1][1]
        found.append({**one, "text": text[begin:end], "characters": [begin, end]})
    return answer._replace(entities=found)


class _End(NamedTuple):
    error: BaseException | None


def arriving(examples: Iterable[Example], most: int) -> Iterator[list[Example]]:
    """What has come since one asked last, at least one and at most so many: where texts come slowly, one at a time."""
    come: queue.Queue[Example | _End] = queue.Queue(most)

    def read() -> None:
        end = _End(None)
        try:
            for example in examples:
                come.put(example)
        except BaseException as error:
            end = _End(error)
        come.put(end)

    threading.Thread(
        target=read, name="litebert-arriving", daemon=True
    ).start()  # it may wait for a text that never comes
    while not isinstance(one := come.get(), _End):
        group = [one]
        end: _End | None = None
        with contextlib.suppress(queue.Empty):
            while len(group) < most and end is None:
                another = come.get_nowait()
                if isinstance(another, _End):
                    end = another
                else:
                    group.append(another)
        yield group
        if end is not None:
            one = end
            break
    if one.error is not None:
        raise one.error


def _grouped(examples: Iterable[Example], most: int) -> Iterator[list[Example]]:
    """The examples in groups, each four times as large as the one before, up to `most` of them."""
    group: list[Example] = []
    size, letters = min(FIRST, most), 0
    for example in examples:
        group.append(example)
        letters += _letters(example)
        if len(group) == size or letters >= LETTERS:
            yield group
            group, size, letters = [], min(most, 4 * size), 0
    if group:
        yield group


def _letters(example: Example) -> int:
    match example:
        case Text():
            return len(example.text) + len(example.pair or "")
        case Words():
            return sum(map(len, example.words))
        case Question():
            return len(example.question) + len(example.context)
        case Choice():
            return len(example.options) * len(example.context) + len(example.question) + sum(map(len, example.options))

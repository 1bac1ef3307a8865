"""Which of a question's options is right? A score for each beside the context, and the softmax over them.

The options of a question are rows of one item, as many as it has. Shapes: I items, R rows, K options at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from litebert import family
from litebert.config import Config, Head
from litebert.errors import UserError
from litebert.model.model import Model
from litebert.tasks import layout, metrics, whole
from litebert.tasks.cutting import Cut, cut_of
from litebert.tasks.examples import Choice as Question
from litebert.tasks.examples import refuse
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Fed, Item
from litebert.text.tokenizer import Tokenizer
from litebert.train.cross_entropy import Sums

_UNKNOWN = -100


class Chosen(NamedTuple):
    """The option of a question: its number from 0."""

    prediction: int
    probability: float
    probabilities: list[float]


class Choice:
    """Questions with options, one of them right."""

    kind = "choice"
    measures: tuple[str, ...] = ("accuracy",)

    def __init__(self, cut: Cut = Cut(512), question: int = 128, smoothing: float = 0.0) -> None:
        """question: of question and option at most the last so many tokens stay."""
        self.cut, self.question, self.smoothing = cut, question, smoothing

    @classmethod
    def settled(cls, examples: Sequence[Question], tuning: Tuning) -> Self:
        """The task for such training examples."""
        if tuning.weights != "none":
            raise UserError(f"weights {tuning.weights!r} has no meaning for choice, whose options are no classes: "
                            "leave it 'none'")  # fmt: skip
        if tuning.long == "mean":
            raise UserError("long 'mean' has no meaning for choice, where every option is read once: choose head, tail "
                            "or head-tail")  # fmt: skip
        for example in examples:
            if example.answer is None:
                raise refuse(example.place, "no answer", "give every training question the number of its right option")
            _check(example)
        return cls(cut_of(tuning), tuning.question, tuning.smoothing)

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Self:
        """The task that was saved."""
        return cls(Cut(**saved["cut"]), saved["question"], saved["smoothing"])

    def saved(self) -> dict[str, Any]:
        """The values that make it again."""
        return {"kind": self.kind, "cut": self.cut._asdict(), "question": self.question, "smoothing": self.smoothing}

    def spec(self, config: Config) -> tuple[str, Head]:
        """One score a row, as the family wears it."""
        return "choice", family.head(config, "choice", labels=1)

    def items(self, examples: Sequence[Question], tokenizer: Tokenizer) -> list[Item]:
        """One item a question, a row for each of its options."""
        for example in examples:
            _check(example)
        rows = layout.choices(examples, tokenizer, self.cut, self.question)
        return [Item(number, one, example.answer)
                for number, (example, one) in enumerate(zip(examples, rows, strict=True))]  # fmt: skip

    def targets(self, items: Sequence[Item], width: int) -> dict[str, Tensor]:
        """The numbers of the right options [I]."""
        answers = [_UNKNOWN if item.target is None else item.target for item in items]
        return {} if all(one == _UNKNOWN for one in answers) else {"answers": torch.tensor(answers)}

    def counts(self, micro: Fed) -> dict[str, float]:
        """Questions whose answer is known."""
        return {self.kind: float((micro.targets["answers"] >= 0).sum())} if micro.targets else {}

    def sums(self, model: Model, micro: Fed) -> dict[str, Sums]:
        """Cross entropy over the options of each question."""
        if not micro.targets:
            return {}
        answers = micro.targets["answers"]
        known, logits = answers >= 0, _logits(model, micro)
        logs = torch.log_softmax(logits, dim=-1)
        loss = F.nll_loss(logs, answers, ignore_index=_UNKNOWN, reduction="sum")
        if self.smoothing:  # over the options that there are: the others are at minus infinity
            there = torch.isfinite(logits)
            even = -torch.where(there, logs, 0.0).sum(dim=-1) / there.sum(dim=-1)
            loss = (1.0 - self.smoothing) * loss + self.smoothing * (known * even).sum()
        return {self.kind: Sums(loss, (logits.argmax(dim=-1) == answers).sum().float(), known.sum().float())}

    def outputs(self, model: Model, micro: Fed) -> list[Any]:
        """[options] scores of every question."""
        scores = _logits(model, micro).cpu().numpy()
        return [row[:count] for row, count in zip(scores, micro.rows, strict=True)]

    def predictions(
        self, examples: Sequence[Question], items: Sequence[Item], outputs: Sequence[Any]
    ) -> list[Chosen]:  # fmt: skip
        """The likeliest option of every question."""
        found = []
        for output in outputs:
            scores = np.asarray(output, np.float64)
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            best = int(scores.argmax())
            found.append(Chosen(best, float(shares[best]), shares.tolist()))
        return found

    def score(self, examples: Sequence[Question], predictions: Sequence[Chosen]) -> dict[str, float]:
        """How many are right."""
        known = [pair for pair in zip(examples, predictions, strict=True) if pair[0].answer is not None]
        return {"accuracy": metrics.accuracy([one.answer for one, _ in known], [one.prediction for _, one in known])}

    def collapsed(self, predictions: Sequence[Chosen]) -> str:
        """Whether the option of one place is always chosen, or all options are as likely as each other."""
        count, said = len(predictions), {one.prediction for one in predictions}
        if count < whole.MANY:
            return ""
        if all(max(one.probabilities) - min(one.probabilities) < whole.HAIR for one in predictions):
            return f"gives all options of all {count} questions the same probability"
        return f"chooses option {said.pop() + 1} of all {count} questions" if len(said) == 1 else ""


def _logits(model: Model, micro: Fed) -> Tensor:
    """[I, K] in float32; minus infinity where a question has no more options."""
    out = model(micro.ids, micro.mask, micro.segments, all_hidden=False)
    scores: Tensor = model.logits("choice", out).float().squeeze(-1)  # [R]
    parts = torch.split(scores, list(micro.rows))
    return pad_sequence(list(parts), batch_first=True, padding_value=float("-inf"))


def _check(example: Question) -> None:
    """Raise where there is nothing to choose, or the answer is none of the options."""
    count = len(example.options)
    if count < 2:
        raise refuse(example.place, f"{count} options leave no choice", "give two or more, or leave the row out")
    if example.answer is not None and not 0 <= example.answer < count:
        raise refuse(example.place, f"answer {example.answer} is none of the options 0 to {count - 1}",
                     "correct it, or leave the row out")  # fmt: skip

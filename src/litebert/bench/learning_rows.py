"""What are two learners asked? The same held-out rows, hidden once as our recipe hides and once as the peer's collator.

So neither is judged by the other's kind of masks alone. Both answer through the same model code and the same loss.
Shapes: R rows, T tokens.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from litebert.data import masking
from litebert.data import recipe as recipes
from litebert.data.batch import Tensors, tensors
from litebert.data.rows import NO_ORDER, Rows
from litebert.data.shards import Shards, open_shards
from litebert.data.vocabulary import Vocabulary, vocabulary
from litebert.errors import UserError
from litebert.model.model import Model
from litebert.text import tokenizer as tokenizers
from litebert.train import feeding
from litebert.train.distributed import World
from litebert.train.objectives import Pretraining
from litebert.train.precision import Chosen
from litebert.train.recipe import Run

_AT_ONCE = 64  # rows
_ORDERS = ("sop", "nsp")


class Questions(NamedTuple):
    """Held-out rows in micro-batches, twice."""

    recipe: list[Tensors]  # laid out and hidden as the run's own evaluation
    single: list[Tensors]  # full rows of running text, single tokens hidden

    @property
    def rows(self) -> dict[str, int]:
        """How many of each."""
        return {name: sum(len(one.ids) for one in part) for name, part in self._asdict().items()}


class Running:
    """Full rows of running text between [CLS] and [SEP], as the peer is fed; read from the maps, one by one."""

    def __init__(self, shards: Shards, length: int, words: Vocabulary) -> None:
        self._shards, self._inner, self._words = shards.shards, length - 2, words
        self._ends = np.cumsum([shard.tokens // self._inner for shard in shards.shards])  # a shard's last is left

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def row(self, number: int) -> NDArray[np.int64]:
        """[T] ids."""
        holder = int(np.searchsorted(self._ends, number, side="right"))
        begin = (number - (int(self._ends[holder - 1]) if holder else 0)) * self._inner
        row = np.empty(self._inner + 2, np.int64)
        row[0], row[-1] = self._words.cls, self._words.sep
        row[1:-1] = self._shards[holder].ids[begin : begin + self._inner]
        return row


def questions(run: Run, shards: str, device: torch.device, rows: int) -> Questions:
    """So many held-out rows of each kind, or as many as there are; the same for whoever asks."""
    tokenizer = tokenizers.load(shards)
    words, held = vocabulary(tokenizer), open_shards(shards, "held-out", tokenizer)
    running = Running(held, run.data.length, words)
    if not len(running):
        raise UserError(f"{shards} holds out {held.tokens:,} tokens, not one row of {run.data.length}: build it with "
                        "a higher --held-out")  # fmt: skip
    asked = run.but(training=run.training.but(evaluation_rows=rows))
    own = feeding.held_out(asked, held, words, World(device=device))
    whole = _hidden(running, min(rows, len(running)), run, words, device)
    parts = (part for portion in own for micro in portion.micros for part in feeding.split(micro, _AT_ONCE))
    return Questions(list(parts), feeding.split(whole, _AT_ONCE))


@torch.no_grad()
def scored(model: Model, asked: Questions, chosen: Chosen, order: str = "") -> dict[str, float]:
    """Loss and accuracy of hidden words, by kind of question; with `order` (sop, nsp) its accuracy too.

    A model that was never trained on orders was never shown a second segment: it is asked all rows as one segment.
    """
    training = model.training
    model.eval()
    names = ("mlm", order) if order else ("mlm",)
    found: dict[str, float] = {}
    for kind, parts in asked._asdict().items():
        sums = {name: [0.0, 0.0, 0.0] for name in names}
        for part in parts:
            micro = part if order else part._replace(segments=torch.zeros_like(part.segments))
            with chosen.context():
                for name, one in Pretraining(names).sums(model, micro).items():
                    sums[name] = [a + float(b) for a, b in zip(sums[name], one, strict=True)]
        loss, right, count = sums["mlm"]
        found |= {f"{kind}_loss": loss / count, f"{kind}_accuracy": right / count}
        if order and sums[order][2]:
            found["order_accuracy"] = sums[order][1] / sums[order][2]
    model.train(training)
    return found


def order_of(run: Run) -> str:
    """The objective that tells the order of segments, or ''."""
    return next((name for name in run.model.objectives if name in _ORDERS), "")


def collated(length: int) -> recipes.Recipe:
    """The peer's collator as a recipe: single tokens, 15 % of those that are no structure, any piece as replacement."""
    rate = 0.15 * (length - 2) / length  # of a row
    return recipes.recipe("albert", length=length, packing="single", short=0.0, unit="token", spans="one", rate=rate,
                          replacements="vocabulary")  # fmt: skip


def _hidden(running: Running, count: int, run: Run, words: Vocabulary, device: torch.device) -> Tensors:
    """Rows from all over the held-out text, with their masks."""
    length = run.data.length
    chosen = np.arange(count) * len(running) // count
    ids = np.stack([running.row(int(number)) for number in chosen]).astype(np.int32)  # [R, T]
    within = np.full((count, length), -1, np.int16)
    within[:, 1:-1] = np.arange(length - 2)
    rows = Rows(
        ids=ids, segments=np.zeros((count, length), np.uint8), words=within,
        lengths=np.full(count, length, np.int32), source=np.full(count, length, np.int32),
        order=np.full(count, NO_ORDER, np.int8), examples=chosen.astype(np.int64),
    )  # fmt: skip
    return tensors(masking.corrupt(rows, collated(length), words, run.training.seed, 0), device)

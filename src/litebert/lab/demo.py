"""Does the whole way work here? From the documentation of the running Python to a trained encoder, step by step.

Every step is what its verb does, so the folder can be looked into and gone on with: `litebert data show FOLDER/shards`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from litebert import family
from litebert.data.build import build
from litebert.data.options import Options
from litebert.interop import folder as folders
from litebert.lab import report
from litebert.model import model as models
from litebert.text import sample, tokenizer, train
from litebert.text.corpus import sources
from litebert.train import recipe
from litebert.train.distributed import World
from litebert.train.prepared import Prepared, prepare
from litebert.train.pretrain import Outcome
from litebert.train.recipe import Run
from litebert.vectors.fill import Filled, fill

CORPUS, VOCABULARY, HELD_OUT = "pydocs", 8000, 0.05
RECIPE = "albert-demo"
BLANKS = (  # a word left out of the prose of a manual
    "Return [MASK] if the object is callable, otherwise false.",
    "This method returns a list [MASK] strings.",
    "This is equivalent [MASK] calling the function.",
)


class Folder(NamedTuple):
    """Where each step leaves what it made."""

    root: Path

    @property
    def tokenizer(self) -> Path:
        """A tokenizer.json."""
        return self.root / "tokenizer"

    @property
    def shards(self) -> Path:
        """Encoded text."""
        return self.root / "shards"

    @property
    def run(self) -> Path:
        """The trained model."""
        return self.root / "run"

    @property
    def report(self) -> Path:
        """The page to look at."""
        return self.root / "report.html"


class Blank(NamedTuple):
    """A sentence with a gap, and what is put there by a model that has learnt nothing, and by one that has."""

    text: str
    before: Filled
    after: Filled


def text(place: Folder) -> dict[str, float]:
    """Tokenizer and shards from the embedded corpus; how much there is."""
    found = sources([CORPUS])
    drawn = sample.draw(found)
    train.train(drawn, "unigram", VOCABULARY).save(place.tokenizer)
    made = tokenizer.load(place.tokenizer)
    built = build([CORPUS], made, place.shards, Options(held_out=HELD_OUT), workers=1, overwrite=True)
    counts = built.manifest["counts"]
    return {"bytes": counts["bytes"], "documents": counts["documents"], "tokens": counts["tokens"], "pieces": made.size}


def ready(place: Folder, span: str) -> Prepared:
    """The run that the recipe says, for so long."""
    return prepare(recipe.load(RECIPE, [f"schedule.total={span}"]), place.shards, World())


def blanks(prepared: Prepared, outcome: Outcome, top: int = 3) -> list[Blank]:
    """The gaps filled before and after training."""
    run: Run = prepared.run
    new = models.build(run.model, family.pretraining_heads(run.model), seed=run.training.seed).eval()
    trained = folders.load(outcome.folder, ["mlm"])
    before, after = (fill(model, prepared.tokenizer, BLANKS, top) for model in (new, trained))
    return [Blank(*each) for each in zip(BLANKS, before, after, strict=True)]


def page(place: Folder) -> Path:
    """The report of the run."""
    return report.write([place.run], place.report, shards=place.shards)

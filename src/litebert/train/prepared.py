"""What does a run stand on before its first step? Shards opened, a model made or loaded, its optimizer set up."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from litebert import family
from litebert.data import frequencies, manifest, stats
from litebert.data.shards import Shards, open_shards
from litebert.data.vocabulary import Vocabulary, vocabulary
from litebert.errors import UserError
from litebert.interop import folder as folders
from litebert.model.model import Model, build
from litebert.optim.groups import treated
from litebert.optim.lamb import Lamb
from litebert.text import tokenizer as tokenizers
from litebert.text.tokenizer import Tokenizer
from litebert.train import allocation, feeding, precision
from litebert.train.distributed import World
from litebert.train.loop import Trainer
from litebert.train.objectives import Pretraining
from litebert.train.recipe import Run

UNNAMED = "?"  # a run's start that whoever begins it has to name


class Prepared(NamedTuple):
    """All that a run needs, before its first step."""

    run: Run
    shards: Shards
    held_out: Shards
    tokenizer: Tokenizer
    vocabulary: Vocabulary
    trainer: Trainer
    entropy: float  # of single tokens of the training text, in nats: the loss of one who only knows how often each is

    @property
    def text(self) -> str:
        """What tells this shard set from another."""
        digests = [entry["sha256"] for entry in manifest.listed(self.shards.manifest).values()]
        return hashlib.sha256("".join(digests).encode()).hexdigest()


def prepare(run: Run, shards: str | Path, world: World = World()) -> Prepared:
    """Open the shards, make or load the model, set up its optimizer; the run comes back with every value settled."""
    if run.start == UNNAMED:
        raise UserError("this recipe trains a model that is there: name its folder with --from FOLDER")
    manifest.read(Path(shards))  # before the tokenizer in it is missed: the folder may be no shard set
    tokenizer = tokenizers.load(shards)
    opened = {split: open_shards(shards, split, tokenizer) for split in ("train", "held-out")}
    if not opened["train"].tokens:
        raise UserError(f"{shards} holds no text to learn from: build it from a larger corpus")
    words = vocabulary(tokenizer)
    for phase in run.stretches():  # what does not fit is said before a model is made
        feeding.stream_of(run, phase, opened["train"], words, world)
    run, model = _model(run, tokenizer)
    allocation.keep()
    model.to(world.device)
    trainer = Trainer(
        model=model, objective=Pretraining(run.model.objectives), optimizer=Lamb(treated(model), run.optimizer),
        schedule=run.schedule, precision=precision.choose(run.training.precision, world.device), world=world,
        seed=run.training.seed,
    )  # fmt: skip
    entropy = stats.entropy(frequencies.read(opened["train"].folder, tokenizer.size).tokens[0])
    return Prepared(run, opened["train"], opened["held-out"], tokenizer, words, trainer, entropy)


def _model(run: Run, tokenizer: Tokenizer) -> tuple[Run, Model]:
    """The run's model, new or from the folder it starts from, for this tokenizer."""
    if not run.start:
        config = run.model.but(vocab=tokenizer.size, pad=tokenizer.specials.pad)
        heads = family.pretraining_heads(config)
        return run.but(model=config), build(config, heads, seed=run.training.seed)
    heads = family.pretraining_heads(run.model)
    model = folders.load(run.start, list(heads), seed=run.training.seed, objectives=run.model.objectives,
                         dropout=run.model.dropout, attention_dropout=run.model.attention_dropout)  # fmt: skip
    if model.config.vocab != tokenizer.size:
        raise UserError(
            f"{run.start} has {model.config.vocab:,} words and the shards' tokenizer {tokenizer.size:,}: "
            "build the shards with the model's own tokenizer"
        )
    return run.but(model=model.config), model.train()

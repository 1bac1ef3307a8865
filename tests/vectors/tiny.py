"""What do these tests look at? Tokenizers of every layout over a handful of words, and a model of three layers."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import tokenizers
from tokenizers import models, pre_tokenizers

from litebert import family, presets
from litebert.model.model import Model, build
from litebert.text import assemble, normalise, wordpiece
from litebert.text.tokenizer import Tokenizer

WORDS = ("a", "and", "bird", "boat", "calm", "cold", "green", "harbour", "is", "lake", "north", "old", "river", "sails",
         "sea", "small", "south", "the", "to", "under", "water", "wind", "x")  # fmt: skip
_MARKS = (".", ",", "(", ")", "!", "'", "s")


@functools.cache
def wordpiece_of() -> Tokenizer:
    """[CLS] A [SEP], with pieces that go on with a word."""
    names = [*assemble.BRACKETS.values(), *WORDS, *_MARKS, "##s", "##ed", "##ing", "河", "山"]
    pieces = {name: number for number, name in enumerate(names)}
    return assemble.finished(wordpiece.engine(pieces, "[UNK]", True, True), assemble.BRACKETS)


@functools.cache
def unigram_of() -> Tokenizer:
    """ALBERT's: pieces that begin a word carry its mark."""
    return _metaspace(assemble.ALBERT)


@functools.cache
def xlnet_of() -> Tokenizer:
    """A <sep> <cls>: the text's own vector stands last."""
    return _metaspace(assemble.XLNET)


def _metaspace(names: dict[str, str]) -> Tokenizer:
    pieces: list[tuple[str, float]] = [(name, 0.0) for name in names.values()]
    pieces += [(f"▁{word}", -2.0) for word in WORDS] + [("▁", -4.0)]
    pieces += [(mark, -3.0) for mark in _MARKS] + [("ing", -3.0), ("ed", -3.0)]
    unknown = [name for name, _ in pieces].index(names["unk"])
    engine = tokenizers.Tokenizer(models.Unigram(pieces, unknown, False))
    engine.normalizer = normalise.albert(True, True)
    engine.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="always")
    return assemble.finished(engine, names)


def model_of(
    tokenizer: Tokenizer, preset: str = "albert-base", heads: Iterable[str] | None = None, **more: object
) -> Model:
    """Three layers over a tokenizer's pieces, with weights large enough that every token matters."""
    changes = {"vocab": tokenizer.size, "pad": tokenizer.specials.pad, "embedding": 8, "hidden": 16, "layers": 3,
               "heads": 2, "ffn": 32, "max_positions": 32, "init_std": 0.3}  # fmt: skip
    config = presets.preset(preset).but(**{**changes, **more})
    return build(config, family.pretraining_heads(config) if heads is None else heads, seed=1).eval()

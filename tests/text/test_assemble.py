"""Does a tokenizer.json lay pairs out as its family does, and name the pieces that are missing?"""

from __future__ import annotations

import pytest
import tokenizers
from tokenizers import models, pre_tokenizers

from litebert.errors import UserError
from litebert.text import assemble
from litebert.text.tokenizer import Tokenizer

FAMILIES = {"albert": assemble.ALBERT, "bert": assemble.BRACKETS, "xlnet": assemble.XLNET, "roberta": assemble.ROBERTA}


def made(names: dict[str, str]) -> Tokenizer:
    vocabulary = {name: number for number, name in enumerate([*names.values(), "a", "b"])}
    engine = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token=names["unk"]))
    engine.pre_tokenizer = pre_tokenizers.Whitespace()
    return assemble.finished(engine, names)


@pytest.mark.parametrize(
    ("family", "single", "pair", "segments"),
    [
        ("albert", "[CLS] a [SEP]", "[CLS] a [SEP] b b [SEP]", [0, 0, 0, 1, 1, 1]),
        ("bert", "[CLS] a [SEP]", "[CLS] a [SEP] b b [SEP]", [0, 0, 0, 1, 1, 1]),
        ("roberta", "<s> a </s>", "<s> a </s> </s> b b </s>", [0] * 7),
        ("xlnet", "a <sep> <cls>", "a <sep> b b <sep> <cls>", [0, 0, 1, 1, 1, 2]),
    ],
)
def test_a_family_frames_its_texts(family: str, single: str, pair: str, segments: list[int]) -> None:
    engine = made(FAMILIES[family]).engine
    assert engine.encode("a").tokens == single.split()
    assert engine.encode("a", "b b").tokens == pair.split()
    assert engine.encode("a", "b b").type_ids == segments


@pytest.mark.parametrize("family", FAMILIES)
def test_a_vocabulary_tells_its_family(family: str) -> None:
    assert assemble.names_in([*FAMILIES[family].values(), "x"], "v") == FAMILIES[family]


def test_the_missing_pieces_of_the_nearest_family_are_named() -> None:
    with pytest.raises(UserError, match=r"^v has no piece \[SEP\] \[MASK\]: a tokenizer needs"):
        assemble.names_in(["<pad>", "<unk>", "[CLS]", "a"], "v")
    with pytest.raises(UserError, match=r"^v has no piece <mask>:"):
        assemble.names_in(["<pad>", "<unk>", "<s>", "</s>"], "v")


def test_the_mask_takes_the_space_before_it() -> None:
    """As transformers has it: "the [MASK] of" must not leave a lone space piece."""
    added = made(assemble.BRACKETS).engine.get_added_tokens_decoder()
    assert {token.content: token.lstrip for token in added.values() if token.lstrip} == {"[MASK]": True}

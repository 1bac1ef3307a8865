"""What does a tokenizer.json hold beside the vocabulary? The special pieces, their places, and the way back to text.

Three layouts: BERT's `[CLS] A [SEP] B [SEP]`, RoBERTa's `<s> A </s></s> B </s>`, XLNet's `A <sep> B <sep> <cls>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import tokenizers
from tokenizers import AddedToken, decoders, processors

from litebert.errors import UserError
from litebert.text import tokenizer as face
from litebert.text.pieces import METASPACE

BRACKETS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}  # BERT
ALBERT = {**BRACKETS, "pad": "<pad>", "unk": "<unk>"}
ROBERTA = {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}
XLNET = {"unk": "<unk>", "cls": "<cls>", "sep": "<sep>", "pad": "<pad>", "mask": "<mask>"}
_FAMILIES = (ALBERT, BRACKETS, XLNET, ROBERTA)


def names_in(vocabulary: Iterable[str], where: object) -> dict[str, str]:
    """What a vocabulary calls its special pieces: as ALBERT, BERT, XLNet or RoBERTa do."""
    known = set(vocabulary)
    for family in _FAMILIES:
        if known.issuperset(family.values()):
            return family
    nearest = max(_FAMILIES, key=lambda family: len(known.intersection(family.values())))
    missing = " ".join(name for name in nearest.values() if name not in known)
    raise UserError(
        f"{where} has no piece {missing}: a tokenizer needs pad, unk, cls, sep and mask, each its own piece"
    )


def finished(
    engine: tokenizers.Tokenizer, names: Mapping[str, str], others: Iterable[str] = (), length: int = face.LENGTH
) -> face.Tokenizer:
    """A tokenizer around an engine with its vocabulary: `others` are further pieces that never come from text."""
    vocabulary = engine.get_vocab()
    special = sorted({*names.values(), *others}, key=vocabulary.__getitem__)
    # A mask takes the space before it: "the [MASK] of" is the, mask, of, whatever the pieces make of spaces.
    engine.add_special_tokens(
        [AddedToken(name, lstrip=name == names["mask"], normalized=False, special=True) for name in special]
    )
    cls, sep = ((name, vocabulary[name]) for name in (names["cls"], names["sep"]))
    single, pair = _layout(cls[0], sep[0])
    engine.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=[cls, sep])
    kind = type(engine.model).__name__
    if kind == "WordPiece":
        engine.decoder = decoders.WordPiece()
    elif kind == "BPE":
        engine.decoder = decoders.ByteLevel()
    else:
        engine.decoder = decoders.Metaspace(METASPACE, prepend_scheme="always")
    return face.Tokenizer(engine.to_str(), names, length)


def _layout(cls: str, sep: str) -> tuple[str, str]:
    if cls == XLNET["cls"]:
        return f"$A:0 {sep}:0 {cls}:2", f"$A:0 {sep}:0 $B:1 {sep}:1 {cls}:2"
    if cls == ROBERTA["cls"]:
        return f"{cls}:0 $A:0 {sep}:0", f"{cls}:0 $A:0 {sep}:0 {sep}:0 $B:0 {sep}:0"
    return f"{cls}:0 $A:0 {sep}:0", f"{cls}:0 $A:0 {sep}:0 $B:1 {sep}:1"

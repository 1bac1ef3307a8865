"""What is a tokenizer? One face over the `tokenizers` engine; everything about it stands in its `tokenizer.json`.

Plain text never gives a special piece: the words "[MASK]" are encoded as any other words. A mask is put where a
placeholder stands by `with_masks`, on purpose.

Shapes: V pieces.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import tokenizers
from numpy.typing import NDArray

from litebert import files
from litebert.errors import UserError
from litebert.text import pieces as words

Kind = Literal["unigram", "wordpiece", "bpe"]
ROLES = ("pad", "unk", "cls", "sep", "mask")
# What the families call them, where a folder does not say.
_NAMES = {
    "pad": ("[PAD]", "<pad>"), "unk": ("[UNK]", "<unk>"), "cls": ("[CLS]", "<cls>", "<s>"),
    "sep": ("[SEP]", "<sep>", "</s>"), "mask": ("[MASK]", "<mask>"),
}  # fmt: skip
_KINDS: dict[str, Kind] = {"Unigram": "unigram", "WordPiece": "wordpiece", "BPE": "bpe"}
_DECIDES = ("normalizer", "pre_tokenizer", "model", "added_tokens")  # the ids of a text; the rest is dress
_UNUSED = re.compile(r"\[unused\d+\]")  # BERT's spare pieces
LENGTH = 512
_WORD = "x"  # any that stays in one piece


class Specials(NamedTuple):
    """The ids of the pieces that stand for structure."""

    pad: int
    unk: int
    cls: int
    sep: int
    mask: int


class Tokenizer:
    """Text to ids and back. `engine` is the `tokenizers.Tokenizer` below, for what this face does not offer.

    It is made from the text of a tokenizer.json and saves that same text: the engine would not write it back to the
    last bit, as its reader of numbers rounds.
    """

    def __init__(self, text: str, names: Mapping[str, str] | None = None, length: int = LENGTH) -> None:
        state = json.loads(text)
        self.kind = _kind(state)
        self.engine = tokenizers.Tokenizer.from_str(text)
        self.engine.no_truncation()
        self.engine.no_padding()
        self.engine.encode_special_tokens = True
        self.length = length  # what transformers is told as the longest input
        self.text = text  # of tokenizer.json
        vocabulary = self.engine.get_vocab(with_added_tokens=True)
        self.size = max(vocabulary.values()) + 1
        named: list[str] = [""] * self.size
        for piece, number in vocabulary.items():
            named[number] = piece
        self.specials = _specials(state, vocabulary, names or {})
        self.starts: NDArray[np.bool_] = _starts(state, named)  # [V] the piece begins a word
        structure = {one["id"] for one in state["added_tokens"] if one["special"]}.union(self.specials)
        # [V] pieces that never come from text
        self.special: NDArray[np.bool_] = np.array([not p or bool(_UNUSED.fullmatch(p)) for p in named], bool)
        self.special[sorted(structure)] = True

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything in tokenizer.json that decides ids, written in one way whoever saved the file."""
        state = json.loads(self.text)
        # What is null or false in a model is written by one version of the engine and left out by another.
        state["model"] = {
            name: value for name, value in state["model"].items() if value is not None and value is not False
        }
        text = json.dumps({name: state[name] for name in _DECIDES}, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without special pieces."""
        ids: list[int] = self.engine.encode(text, add_special_tokens=False).ids
        return ids

    def with_masks(self, text: str, placeholder: str = "") -> list[int]:
        """The same with a mask wherever `placeholder` stands (the mask's own name if none is given)."""
        parts = text.split(placeholder or self.name("mask"))
        ids = self.encode(parts[0].rstrip() if len(parts) > 1 else parts[0])
        for i, part in enumerate(parts[1:], 2):
            ids += [self.specials.mask, *self._going_on(part.rstrip() if i < len(parts) else part)]
        return ids

    def _going_on(self, part: str) -> list[int]:
        """The ids of a text that stands behind a word: the stop of "the [MASK]." is no word of its own."""
        if part and not part[0].isspace():
            word, whole = self.encode(_WORD), self.encode(_WORD + part)
            if whole[: len(word)] == word and self.specials.unk not in word:  # else the two hang together
                return whole[len(word) :]
        return self.encode(part)

    def decode(self, ids: Iterable[int], specials: bool = True) -> str:
        """The text that ids stand for, with or without the special pieces among them."""
        text: str = self.engine.decode([int(i) for i in ids], skip_special_tokens=not specials)
        return text

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The pieces as the vocabulary writes them."""
        return [self.engine.id_to_token(int(i)) or "" for i in ids]

    def name(self, role: str) -> str:
        """What a special piece is called: `name("mask")` is "[MASK]"."""
        return str(self.engine.id_to_token(getattr(self.specials, role)))

    def save(self, folder: str | Path) -> None:
        """`tokenizer.json` and `tokenizer_config.json`, which transformers loads as they are."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        with files.whole(place / "tokenizer.json") as temporary:
            temporary.write_text(self.text, encoding="utf-8")
        files.write_json(place / "tokenizer_config.json", self._config())

    def _config(self) -> dict[str, Any]:
        """The generic class: a class of one family would build its own normaliser and leave ours aside."""
        two = self.name("cls") != "<s>"  # RoBERTa knows no segments
        inputs = ["input_ids", "token_type_ids", "attention_mask"] if two else ["input_ids", "attention_mask"]
        return {
            "tokenizer_class": "PreTrainedTokenizerFast",
            **{f"{role}_token": self.name(role) for role in ROLES},
            "model_max_length": self.length,
            "model_input_names": inputs,
            "padding_side": "left" if self.name("cls") == "<cls>" else "right",  # XLNet reads its last place
            "clean_up_tokenization_spaces": False,
        }


def load(path: str | Path) -> Tokenizer:
    """A tokenizer from its folder, or from a tokenizer.json; tokenizer_config.json beside it says the names."""
    place = Path(path)
    file = place / "tokenizer.json" if place.is_dir() else place
    if not file.is_file():
        raise UserError(f"{path} has no tokenizer.json: make one with litebert tokenizer train, or tokenizer import")
    files.read_json(file)  # or say what is wrong with it
    beside = file.with_name("tokenizer_config.json")
    config = files.read_json(beside) if beside.is_file() else {}
    said = {role: config[f"{role}_token"] for role in ROLES if config.get(f"{role}_token")}
    names = {role: str(one["content"]) if isinstance(one, dict) else str(one) for role, one in said.items()}
    length = config.get("model_max_length")
    try:
        text = file.read_text(encoding="utf-8")
        return Tokenizer(text, names, length if isinstance(length, int) and 0 < length < 2**31 else LENGTH)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    except Exception as error:  # the engine raises nothing narrower
        reason = " ".join(str(error).split())
        raise UserError(f"{file} is not a tokenizer that can be read ({reason}): copy it again") from None


def _kind(state: dict[str, Any]) -> Kind:
    model = state["model"]
    if model["type"] not in _KINDS:
        raise UserError(f"a {model['type']} model is no tokenizer of ours: use one of {', '.join(_KINDS)}")
    if model.get("dropout"):
        raise UserError(f"dropout {model['dropout']} makes ids random: set it to null in tokenizer.json")
    return _KINDS[model["type"]]


def _specials(state: dict[str, Any], vocabulary: Mapping[str, int], names: Mapping[str, str]) -> Specials:
    found: dict[str, str] = {}
    for role in ROLES:
        known = (names[role],) if role in names else _NAMES[role]
        present = [name for name in known if name in vocabulary]
        if not present:
            raise UserError(
                f"no piece for {role}: {' or '.join(known)} must be in the vocabulary; put it there, "
                f"or name the piece as {role}_token in tokenizer_config.json"
            )
        found[role] = present[0]
    for i, role in enumerate(ROLES):
        for other in ROLES[:i]:
            if found[role] == found[other]:
                raise UserError(
                    f"{other} and {role} are both {found[role]} (id {vocabulary[found[role]]}): "
                    f"each needs a piece of its own, name another as {role}_token in tokenizer_config.json"
                )
    return Specials(**{role: vocabulary[name] for role, name in found.items()})


def _starts(state: dict[str, Any], named: list[str]) -> NDArray[np.bool_]:
    model = state["model"]
    if model.get("end_of_word_suffix"):
        raise UserError(
            f"pieces that end words with {model['end_of_word_suffix']!r} do not say where words begin: train another"
        )
    if model.get("continuing_subword_prefix"):
        return words.begins_unless(named, model["continuing_subword_prefix"])
    if '"type": "ByteLevel"' in json.dumps(state["pre_tokenizer"]):
        return words.begins(named, "Ġ", words.first_character)
    return words.begins(named, words.METASPACE)

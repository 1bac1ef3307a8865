"""Is a tokenizer the same wherever it is read, and are its special pieces five, known, and never text?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from litebert.errors import UserError
from litebert.text import tokenizer
from litebert.text.tokenizer import Kind, Tokenizer
from text.tiny import KINDS, odd, sentences, trained


def changed(kind: Kind, change: dict[str, Any], model: dict[str, Any] | None = None) -> str:
    """The text of a tokenizer.json with other values."""
    state = json.loads(trained(kind).text)
    state["model"] |= model or {}
    return json.dumps({**state, **change})


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_read_it_is_the_same(kind: Kind, tmp_path: Path) -> None:
    made = trained(kind)
    made.save(tmp_path)
    again = tokenizer.load(tmp_path)
    assert again.text == made.text
    assert (again.specials, again.fingerprint, again.size, again.kind) == (
        made.specials, made.fingerprint, made.size, kind,
    )  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokenizer.json", "tokenizer_config.json"]
    assert tokenizer.load(tmp_path / "tokenizer.json").text == made.text


@pytest.mark.parametrize("kind", KINDS)
def test_transformers_loads_the_folder_as_it_is(kind: Kind, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    made = trained(kind)
    made.save(tmp_path)
    for peer in (
        transformers.AutoTokenizer.from_pretrained(tmp_path),
        transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json")),
    ):
        for text in [*odd(300, seed=6), *sentences(100, seed=6)]:
            if not any(made.name(role) in text for role in tokenizer.ROLES):  # which are pieces to it
                assert made.encode(text) == peer(text, add_special_tokens=False)["input_ids"], repr(text)
    peer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert {role: getattr(peer, f"{role}_token_id") for role in tokenizer.ROLES} == made.specials._asdict()
    assert peer.model_max_length == 512
    pair = peer("ba do", "ki lo")
    assert pair["input_ids"] == made.engine.encode("ba do", "ki lo").ids
    assert ("token_type_ids" in pair) is (kind != "bpe")  # RoBERTa knows no segments
    masked = peer(f"ba {made.name('mask')} do", add_special_tokens=False)["input_ids"]
    assert masked == made.with_masks(f"ba {made.name('mask')} do")


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_gives_a_special_piece(kind: Kind) -> None:
    made = trained(kind)
    structure = set(made.specials) - {made.specials.unk}
    for name in ("[MASK]", "<mask>", "[CLS]", "<s>", "</s>", "<pad>", "[PAD]", "a[SEP]b", "ba <unk> [UNK]"):
        assert not structure.intersection(made.encode(name)), name


@pytest.mark.parametrize("kind", KINDS)
def test_masks_stand_where_they_are_put(kind: Kind) -> None:
    made = trained(kind)
    mask = made.specials.mask
    assert made.with_masks("ba ▢ do ▢", "▢") == [*made.encode("ba"), mask, *made.encode(" do"), mask]
    assert made.with_masks("ba do", "▢") == made.encode("ba do")


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_read_back_as_text(kind: Kind) -> None:
    made = trained(kind)
    ids = [made.specials.cls, *made.encode("ba do fen"), made.specials.sep]
    assert made.decode(ids, specials=False).strip() == "ba do fen"
    assert made.name("cls") in made.decode(ids)
    assert made.pieces(ids)[0] == made.name("cls")


@pytest.mark.parametrize(
    ("kind", "text", "begins"),
    [
        ("unigram", "ba 山川, do", ["▁ba", "▁山", "川", ",", "▁do"]),
        ("wordpiece", "ba 山川, do", ["ba", "山", "川", ",", "do"]),
        ("bpe", "ba, do", ["Ġba", ",", "Ġdo"]),
    ],
)
def test_words_begin_where_they_begin(kind: Kind, text: str, begins: list[str]) -> None:
    made = trained(kind)
    ids = made.encode(text)
    assert [piece for piece, id_ in zip(made.pieces(ids), ids, strict=True) if made.starts[id_]] == begins


def test_a_file_without_a_special_piece_is_refused() -> None:
    text = trained("wordpiece").text.replace("[MASK]", "[MASKED]")
    with pytest.raises(UserError, match=r"no piece for mask: \[MASK\] or <mask> must be in the vocabulary"):
        Tokenizer(text)
    assert Tokenizer(text, {"mask": "[MASKED]"}).specials.mask == 4


def test_two_roles_never_share_a_piece(tmp_path: Path) -> None:
    """A mask that is the unknown piece trains in silence, and learns nothing."""
    made = trained("wordpiece")
    made.save(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mask_token": "[UNK]"}))
    with pytest.raises(UserError, match=r"unk and mask are both \[UNK\] \(id 1\): each needs a piece of its own"):
        tokenizer.load(tmp_path)


@pytest.mark.parametrize(
    ("kind", "model", "said"),
    [
        ("bpe", {"dropout": 0.1}, "dropout 0.1 makes ids random"),
        ("bpe", {"end_of_word_suffix": "</w>"}, "do not say where words begin"),
        ("wordpiece", {"type": "WordLevel"}, "a WordLevel model is no tokenizer of ours"),
    ],
)
def test_a_tokenizer_that_cannot_be_used_is_refused(kind: Kind, model: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Tokenizer(changed(kind, {}, model))


def test_the_fingerprint_is_of_what_decides_ids() -> None:
    """Another version of the engine writes the same tokenizer otherwise: null fields, order, what frames a text."""
    made = trained("bpe")
    state = json.loads(made.text)
    state["model"] = {k: v for k, v in reversed(state["model"].items()) if v is not None and v is not False}
    assert Tokenizer(json.dumps(state, indent=1)).fingerprint == made.fingerprint
    assert Tokenizer(changed("bpe", {"post_processor": None})).fingerprint == made.fingerprint
    assert Tokenizer(changed("bpe", {"normalizer": {"type": "Lowercase"}})).fingerprint != made.fingerprint


def test_truncation_and_padding_of_a_file_are_left_aside() -> None:
    """They would cut what is trained on, in silence."""
    engine = tokenizers.Tokenizer.from_str(trained("wordpiece").text)
    engine.enable_truncation(3)
    engine.enable_padding(length=9, pad_token="[PAD]")
    made = Tokenizer(engine.to_str())
    assert made.encode("ba do fen ki lo") == trained("wordpiece").encode("ba do fen ki lo")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(None, "has no tokenizer.json: make one with litebert tokenizer train", id="nothing"),
        pytest.param("{", "is not valid JSON", id="no JSON"),
        pytest.param("[]", "holds a list, not an object", id="a list"),
        pytest.param("{}", "is not a tokenizer that can be read", id="another file"),
        pytest.param('{"model": {"type": "BPE"}}', "is not a tokenizer that can be read", id="half of one"),
    ],
)
def test_a_broken_file_is_refused_by_its_name(text: str | None, said: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(UserError, match=said) as refusal:
        tokenizer.load(tmp_path)
    assert str(tmp_path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_length_that_is_none_is_the_usual_one(tmp_path: Path) -> None:
    """transformers writes 10^30 for "no limit"."""
    trained("wordpiece").save(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    for said, length in ((10**30, 512), (128, 128), (None, 512)):
        path.write_text(json.dumps({"model_max_length": said}))
        assert tokenizer.load(tmp_path).length == length


def test_spare_pieces_never_come_from_text_and_are_never_drawn() -> None:
    """BERT's [unused1]: as a random replacement it would teach the model a piece that it never meets."""
    state = json.loads(trained("wordpiece").text)
    size = len(state["model"]["vocab"])
    state["model"]["vocab"] |= {"[unused1]": size, "x]": size + 1}
    made = Tokenizer(json.dumps(state))
    assert made.special[size:].tolist() == [True, False]

"""Does `litebert tokenizer` train, bring in, show and extend, and leave what transformers loads?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import litebert as package
from cli.running import litebert, refused
from litebert.config import Config
from litebert.model.model import build
from litebert.text import tokenizer
from text.test_extend import domain
from text.test_wordpiece import SPECIALS
from text.tiny import KINDS, sentences, trained


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(3):
        (folder / f"{number}.txt").write_text("\n".join(sentences(400, seed=number)))
    return folder


def done(*arguments: object) -> dict[str, Any]:
    """The JSON of a call that must work."""
    ran = litebert("tokenizer", *arguments, "--json")
    assert ran.code == 0, ran.err
    assert ran.out.count("\n") == 1
    return dict(ran.value)


@pytest.mark.parametrize("kind", KINDS)
def test_train_leaves_a_tokenizer(kind: str, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tok"
    told = done("train", "--corpus", corpus, "--kind", kind, "--vocab", 330, "--out", out, "--length", 128)
    made = tokenizer.load(out)
    assert (made.kind, made.size, made.length, made.fingerprint) == (kind, 330, 128, told["fingerprint"])
    assert told["specials"] == made.specials._asdict()
    size = sum(path.stat().st_size for path in corpus.iterdir())
    assert told["corpus"] == {"documents": 3, "bytes": size, "sample": size}
    assert told["fit"]["characters_a_token"] > 1.2
    assert told["fit"]["unknown_share"] < 0.001
    again = done("train", "--corpus", corpus, "--kind", kind, "--vocab", 330, "--out", out, "--overwrite")
    assert again["fingerprint"] == told["fingerprint"]


def test_train_tells_a_person(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_bytes(b"ba \0 do")
    ran = litebert("tokenizer", "train", "--corpus", corpus / "0.txt", corpus / "1.txt", tmp_path / "odd.txt",
                   "--kind", "wordpiece", "--vocab", 300, "--out", tmp_path / "tok")  # fmt: skip
    assert ran.code == 0, ran.err
    for said in ("3 documents", "kind", "wordpiece", "[PAD] 0  [UNK] 1  [CLS] 2  [SEP] 3  [MASK] 4", "lower-case",
                 "characters a token", "NUL bytes: 1, in", f"{tmp_path / 'tok'} written in"):  # fmt: skip
        assert said in ran.out, said
    assert "training wordpiece on" in ran.err


def test_case_and_accents_are_options(corpus: Path, tmp_path: Path) -> None:
    told = done("train", "--corpus", corpus, "--kind", "wordpiece", "--vocab", 330, "--case", "keep", "--out", tmp_path)
    assert told["normaliser"] == ["control characters out, Chinese characters apart"]
    assert "B" in tokenizer.load(tmp_path).engine.get_vocab()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kind", "unigran"], "unknown --kind 'unigran': did you mean 'unigram'?"),
        (["--case", "upper"], "unknown --case 'upper'"),
        (["--accents", "lower"], "unknown --accents 'lower'"),
        (["--kind", "wordpiece", "--vocab", "20000"], "vocab 20000 is more than this text gives: choose"),
        (["--kind", "bpe", "--vocab", "100"], "vocab 100 has no room for"),
        (["--invalid", "ignore"], "invalid"),
        (["--corpus", "nowhere"], "nowhere"),
    ],
)
def test_train_refuses_in_one_line_and_writes_nothing(
    arguments: list[str], said: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = litebert("tokenizer", "train", "--corpus", corpus, "--out", "tok", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err.splitlines()[-1]
    assert ran.err.splitlines()[-1].startswith("litebert: ")
    assert not (tmp_path / "tok").exists()


def test_a_folder_in_use_is_not_written_to(corpus: Path, tmp_path: Path) -> None:
    trained("wordpiece").save(tmp_path)
    for verb in (["train", "--corpus", corpus], ["import", tmp_path / "tokenizer.json"],
                 ["extend", corpus, "--corpus", corpus, "--add", 5]):  # fmt: skip
        said = refused("tokenizer", *verb, "--out", tmp_path)
        assert said == f"{tmp_path} exists and is not empty: choose another folder, or add --overwrite"
    same = refused("tokenizer", "extend", tmp_path, "--corpus", corpus, "--add", 5, "--out", tmp_path, "--overwrite")
    assert same == f"{tmp_path} is where the old one lies: choose another folder"


def test_import_keeps_the_ids(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*SPECIALS, "ba", "##do"]) + "\n")
    told = done("import", path, "--out", tmp_path / "tok")
    assert (told["kind"], told["pieces"]) == ("wordpiece", 7)
    assert tokenizer.load(tmp_path / "tok").encode("BADO") == [5, 6]
    assert done("import", path, "--case", "keep", "--out", tmp_path / "k")["fingerprint"] != told["fingerprint"]
    ran = litebert("tokenizer", "import", tmp_path, "--out", tmp_path / "again")
    assert (ran.code, ran.err) == (0, "")
    assert "7, 6 begin a word" in ran.out
    assert "is not there" in refused("tokenizer", "import", tmp_path / "no.model", "--out", tmp_path / "x")


def test_the_english_model_is_brought_in(shared_data: Path, tmp_path: Path) -> None:
    told = done("import", shared_data / "tokenizers" / "albert-en-spiece.model", "--out", tmp_path)
    assert (told["pieces"], told["specials"]) == (30000, {"pad": 0, "unk": 1, "cls": 2, "sep": 3, "mask": 4})
    shown = done("show", tmp_path, "This is a test")["tokens"]
    assert [(one["id"], one["piece"]) for one in shown] == [(48, "▁this"), (25, "▁is"), (21, "▁a"), (1289, "▁test")]


def test_show_tells_pieces_ids_and_words(tmp_path: Path) -> None:
    trained("wordpiece").save(tmp_path)
    shown = done("show", tmp_path, "badofen ☃ \\")["tokens"]
    assert [one["begins"] for one in shown] == [not one["piece"].startswith("##") for one in shown]
    assert [one["unknown"] for one in shown][-2:] == [True, True]
    ran = litebert("tokenizer", "show", tmp_path, "badofen [b]x[/b]")
    assert (ran.code, ran.err) == (0, "")
    assert " ".join(one["piece"] for one in done("show", tmp_path, "badofen [b]x[/b]")["tokens"]) in ran.out
    assert "begin a word" in litebert("tokenizer", "show", tmp_path).out
    assert done("show", tmp_path)["tokens"] == []
    assert done("show", tmp_path, "")["tokens"] == []


def test_show_tells_chinese_words(tmp_path: Path) -> None:
    pytest.importorskip("jieba")
    trained("wordpiece").save(tmp_path)
    assert [one["begins"] for one in done("show", tmp_path, "火山口")["tokens"]] == [True] * 3
    assert [one["begins"] for one in done("show", tmp_path, "火山口", "--words", "jieba")["tokens"]] == [
        True,
        False,
        False,
    ]
    assert "choose pieces or jieba" in refused("tokenizer", "show", tmp_path, "x", "--words", "spacy")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "domain.jsonl"
    path.write_text("".join(json.dumps({"body": each}) + "\n" for each in domain().sentences()))
    return path


def test_extend_adds_to_a_tokenizer(text: Path, tmp_path: Path) -> None:
    trained("unigram").save(tmp_path / "old")
    call = ("extend", tmp_path / "old", "--corpus", text, "--field", "body", "--add", 40, "--out")
    told = done(*call, tmp_path / "new")
    assert (told["pieces"], told["model"], len(told["new"])) == (300, None, 40)
    assert told["after"]["tokens"] < told["before"]["tokens"]
    assert told["after"]["unknown"] == 0 < told["before"]["unknown"]
    assert tokenizer.load(tmp_path / "new").pieces([260]) == [told["new"][0]["piece"]]
    ran = litebert("tokenizer", *call, tmp_path / "again")
    assert ran.code == 0
    assert "300 pieces, 40 of them new" in ran.out
    assert "(was unknown)" in ran.out


@pytest.mark.parametrize("form", ["hf", "litebert"])
def test_extend_adds_to_the_model_beside_it(form: str, text: Path, tmp_path: Path) -> None:
    made, out = trained("unigram"), tmp_path / "new"
    config = Config(vocab=made.size, embedding=8, hidden=16, layers=2, heads=2, ffn=32, max_positions=64,
                    norm="post" if form == "hf" else "pre")  # fmt: skip
    package.save(build(config, ["mlm"]), tmp_path / "old")
    made.save(tmp_path / "old")
    told = done("extend", tmp_path / "old", "--corpus", text, "--field", "body", "--add", 40, "--out", out)
    assert told["model"] == form
    old, new = package.load(tmp_path / "old"), package.load(out)
    assert (new.config.vocab, tokenizer.load(out).size) == (300, 300)
    ids = torch.tensor([made.encode("ba do fen gra")])
    assert torch.equal(old(ids).last, new(ids).last)
    rows = old.embedding.word.weight
    parts = made.engine.get_vocab()
    one = next(each for each in told["new"] if len(each["made_of"]) == 2)
    expected = rows[[parts[piece] for piece in one["made_of"]]].mean(dim=0)
    torch.testing.assert_close(new.embedding.word.weight[one["id"]], expected)
    if form == "hf":
        transformers = pytest.importorskip("transformers")
        peer = transformers.AutoModelForMaskedLM.from_pretrained(out)
        assert peer.get_input_embeddings().weight.shape == (300, 8)
        assert len(transformers.AutoTokenizer.from_pretrained(out)) == 300


def test_extend_refuses_what_does_not_fit(text: Path, tmp_path: Path) -> None:
    trained("unigram").save(tmp_path / "old")
    package.save(build(Config(vocab=200, embedding=8, hidden=16, layers=1, heads=2, ffn=32)), tmp_path / "old")
    call = ("tokenizer", "extend", tmp_path / "old", "--corpus", text, "--field", "body", "--out", tmp_path / "new")
    ran = litebert(*call, "--add", 40)
    assert ran.code == 2
    assert "the tokenizer had 260 pieces, the model knows 200" in ran.err
    assert "add 90000 is more than the sample gives" in litebert(*call, "--add", 90000).err
    assert not (tmp_path / "new").exists()

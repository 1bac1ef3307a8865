"""Do `data show` and `data audit` show what the stream feeds, in words and colours, and fail when something is off?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.corpora import Made, made
from cli.running import litebert, refused
from data.corpora import SPECIALS
from litebert.data import masking
from litebert.data.recipe import names, recipe
from litebert.data.rows import Batch
from litebert.data.shards import open_shards
from litebert.data.stream import Position, Stream
from litebert.data.vocabulary import vocabulary
from litebert.text import tokenizer

COLOUR = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards of 90 documents."""
    built: Made = made(tmp_path_factory.mktemp("look"))
    assert built.done.code == 0, built.done.err
    return built.shards


def shown(shards: Path, *more: object) -> list[dict[str, Any]]:
    """The examples as values."""
    done = litebert("data", "show", shards, "--set", "length=48", "--json", *more)
    assert done.code == 0, done.err
    return list(done.value["examples"])


@pytest.mark.parametrize("name", names())
def test_show_tells_what_a_stream_feeds(name: str, shards: Path) -> None:
    """Token by token what the model reads, and at every place asked for what the loss is told."""
    words = tokenizer.load(shards)
    pieces = [piece.removeprefix("##") for piece in words.pieces(range(words.size))]
    stream = Stream(open_shards(shards), recipe(name, length=48), vocabulary(words), batch=1, seed=5)
    for place, example in enumerate(shown(shards, "--recipe", name, "-n", 3, "--epoch", 2, "--seed", 5)):
        batch, _ = stream.batch(Position(2, place))
        tokens = [token for part in example["parts"] for token in part]
        assert (example["epoch"], example["place"], example["example"]) == (2, place, batch.examples[0])
        assert example["padding"] == 48 - len(tokens) == 48 - batch.mask.sum()
        if batch.mode != example["mode"]:  # of a mixture every example is shown in a mode of its own
            continue
        assert [token["text"] for token in tokens] == [pieces[i] for i in batch.ids[0, : len(tokens)]]
        assert [token["segment"] for token in tokens] == batch.segments[0, : len(tokens)].tolist()
        asked = {place: token["was"] for place, token in enumerate(tokens) if token["span"] >= 0}
        used = batch.weights[0] > 0
        targets = [pieces[i] for i in batch.targets[0, used]]
        assert asked == dict(zip(batch.asked[0, used].tolist(), targets, strict=True))
        assert example["asked"] == used.sum()
        if batch.ranks is not None:
            assert [token["rank"] for token in tokens] == batch.ranks[0, : len(tokens)].tolist()


@pytest.mark.parametrize("name,labels", [
    ("albert", {"in order (label 0)", "swapped (label 1)", "order not asked"}),
    ("albert-google", {"in order (label 0)", "swapped (label 1)", "from elsewhere, called swapped (label 1)"}),
    ("bert", {"next (label 0)", "random next (label 1)"}), ("xlnet", {"next (label 1)", "random next (label 0)"}),
    ("electra", {"one segment"}), ("roberta-doc", {"one segment"}),
    ("roberta", {"one segment", "one segment of 2 documents"}),
])  # fmt: skip
def test_a_label_is_told_in_words(name: str, labels: set[str], shards: Path) -> None:
    assert {example["label"] for example in shown(shards, "--recipe", name, "-n", 60)} >= labels


def test_show_writes_running_text_with_its_spans(shards: Path) -> None:
    done = litebert("data", "show", shards, "--set", "length=48", "-n", 4)
    assert (done.code, done.err) == (0, "")
    assert done.out.count("[CLS]") == 4
    assert re.search(r"^A 0 \[CLS\] .*\[SEP\]$", done.out, re.MULTILINE)
    assert re.search(r"^B 1 .*\[SEP\]$", done.out, re.MULTILINE)
    assert re.search(r"⟦[a-z.·]+→\[MASK\]", done.out)
    assert "epoch 0, place 3, example " in done.out
    assert done.out.splitlines()[-1].startswith("⟦a span⟧ is asked for · what was there→masked")
    assert not COLOUR.search(done.out)


def test_a_text_of_one_segment_is_whole_again_when_its_arrows_are_undone(shards: Path) -> None:
    """What is shown is the text itself: with what was there, and without brackets, its tokenizer cuts it the same."""
    words = tokenizer.load(shards)
    done = litebert("data", "show", shards, "--recipe", "electra", "--set", "length=48", "-n", 1, "--place", 1)
    line = " ".join(line.strip() for line in done.out.splitlines()[1:-1])
    text = line.removeprefix("0 [CLS] ").removesuffix(" [SEP]")
    text = re.sub(r"→[^ ⟧]+", "", text).replace("·", "").translate({ord("⟦"): "", ord("⟧"): ""})
    (example,) = shown(shards, "--recipe", "electra", "-n", 1, "--place", 1)
    was = [token["was"] for token in example["parts"][0][1:-1]]
    assert [piece.removeprefix("##") for piece in words.pieces(words.encode(text))] == was


def test_what_the_signs_mean_is_said_only_where_they_stand(shards: Path) -> None:
    legend = litebert("data", "show", shards, "--recipe", "xlnet", "--set", "length=48").out.splitlines()[-1]
    assert legend == "⟦a span⟧ is asked for · @place in the order"


def test_on_a_terminal_it_is_in_colours(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = ["data", "show", shards, "--set", "length=48", "-n", 6]
    plain = litebert(*call).out
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    coloured = litebert(*call).out
    assert "\x1b[33m[MASK]" in coloured
    assert "\x1b[2m[CLS]" in coloured
    assert "\x1b[1;32m" in coloured
    assert [" ".join(line.split()) for line in COLOUR.sub("", coloured).splitlines() if line.strip()] == [
        " ".join(line.split()) for line in plain.splitlines() if line.strip()
    ]


def test_show_is_the_same_again_and_differs_by_epoch_and_seed(shards: Path) -> None:
    first = shown(shards)
    assert shown(shards) == first
    assert shown(shards, "--epoch", 1) != first
    assert shown(shards, "--seed", 1) != first
    assert shown(shards, "--place", 1, "-n", 2) == first[1:]
    assert shown(shards, "--split", "held-out") != first


def test_audit_passes_what_is_right_and_shows_what_is_expected(shards: Path) -> None:
    done = litebert("data", "audit", shards, "--rows", 300, "--set", "length=48")
    assert (done.code, done.err) == (0, ""), done.out
    assert re.search(r"^all \d+ are as they should be$", done.out, re.MULTILINE)
    for said in ("albert: ", "label 1, of those with an order", "masked", "0.8000", "of 1 word (drawn 0.545)",
                 "tokens per second", "real tokens, of all slots", "words cut by a span", "continuations",
                 "documents or chunks left out", "text cut from rows"):  # fmt: skip
        assert said in done.out, said
    told = litebert("data", "audit", shards, "--rows", 300, "--set", "length=48", "--json").value
    assert told["off"] == []
    by_name = {measure["name"]: measure for measure in told["measures"]}
    assert by_name["masked"]["expected"] == 0.8
    assert by_name["masked"]["ok"]
    assert by_name["tokens per second"]["ok"] is None


def test_audit_ends_with_1_and_names_what_is_off(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corrupt = masking.corrupt

    def spoilt(rows: Any, *given: Any, **more: Any) -> Batch:
        """All of what is asked for is left as it was."""
        return corrupt(rows, *given, **more)._replace(ids=rows.ids)

    monkeypatch.setattr(masking, "corrupt", spoilt)
    call = ["data", "audit", shards, "--rows", 300, "--set", "length=48"]
    done, told = litebert(*call), litebert(*call, "--json")
    assert (done.code, told.code) == (1, 1)
    assert re.search(r"^\d of \d+ are OFF: .*masked", done.out, re.MULTILINE)
    assert {"masked", "kept"} <= set(told.value["off"])


@pytest.mark.parametrize("verb", ["show", "audit"])
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--recipe", "albret"], "unknown recipe 'albret': did you mean 'albert'?"),
        (["--set", "lenght=9"], "unknown data field 'lenght': did you mean 'length'?"),
        (["--set", "length"], "--set 'length' is not of the form field=value: write for example --set rate=0.3"),
        (["--set", "rate=2"], "rate 2.0 is not between 0 and 1: choose for example 0.15"),
        (["--split", "test"], "split 'test' is unknown: choose train or held-out"),
        (["--set", "length=4"], "length 4 leaves no room for two segments: choose 5 or more"),
    ],
)
def test_a_wrong_call_is_refused(verb: str, more: list[str], message: str, shards: Path) -> None:
    assert refused("data", verb, shards, *more) == message


def test_what_is_no_shard_set_is_refused(tmp_path: Path) -> None:
    for verb in ("show", "audit", "stats"):
        assert refused("data", verb, tmp_path) == (
            f"{tmp_path} is no shard set (no manifest.json): make one with `litebert data build`"
        )


def test_a_place_that_is_not_there_is_refused(shards: Path) -> None:
    message = refused("data", "show", shards, "--place", 10**6)
    assert re.fullmatch(r"place 1000000 is not in epoch 0: choose 0 to \d+", message)


def test_a_special_piece_is_shown_by_its_name(shards: Path) -> None:
    tokens = [token for example in shown(shards, "-n", 5) for part in example["parts"] for token in part]
    assert {token["text"] for token in tokens if token["kind"] == "special"} == {"[CLS]", "[SEP]"}
    assert {token["text"] for token in tokens if token["kind"] == "masked"} == {"[MASK]"}
    assert not {token["text"] for token in tokens if token["kind"] in ("random", "kept")} & set(SPECIALS)
    assert np.mean([token["kind"] == "special" for token in tokens]) < 0.5

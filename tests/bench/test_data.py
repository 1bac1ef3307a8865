"""Do the benches of the data measure what they say, beside the peer in the same run, and say it in JSON?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.corpora import Made, made
from cli.running import litebert, refused
from litebert.bench import build, data, faults
from litebert.data.options import Options
from litebert.data.recipe import recipe
from litebert.errors import UserError
from litebert.text.items import Reading

QUICK = ["--batch", 8, "--batches", 4, "--rounds", 2, "--tokens", 20_000]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A corpus and its shards."""
    return made(tmp_path_factory.mktemp("bench"))


def test_batches_beside_the_collator_of_transformers() -> None:
    done = litebert("bench", "data", *QUICK, "--length", 32)
    assert done.code == 0, done.err
    told = done.value
    assert {key: told[key] for key in ("bench", "recipe", "rows", "length", "corpus_tokens")} == {
        "bench": "data", "recipe": "albert", "rows": 8, "length": 32, "corpus_tokens": 20_000,
    }  # fmt: skip
    assert told["ratio"] == pytest.approx(told["tokens_per_s"] / told["peer_tokens_per_s"], abs=0.01)
    assert 0 < told["first_batch_s"] < 2
    assert "times faster" in done.out


def test_only_real_tokens_are_counted() -> None:
    """Padding is no work: a recipe of very short rows must not look fast for the room beside them."""
    wide = {"length": 512, "packing": "sentence-pair"}
    short = data.measure(recipe("bert", **wide), batch=8, batches=4, rounds=1, tokens=20_000, peer=False)
    full = data.measure(recipe("spanbert", length=64), batch=8, batches=4, rounds=1, tokens=20_000, peer=False)
    assert short["real_share"] < 0.9 < full["real_share"] <= 1
    assert "ratio" not in short


def test_shards_of_a_user_are_measured_with_their_own_tokenizer(built: Made) -> None:
    done = litebert("bench", "data", built.shards, *QUICK, "--length", 32, "--no-peer", "--recipe", "bert")
    assert done.code == 0, done.err
    assert done.value["corpus_tokens"] == built.done.value["splits"]["train"]["tokens"]
    assert "peer_tokens_per_s" not in done.value


def test_the_collator_gets_rows_as_long_as_ours_and_hides_as_much() -> None:
    batch = data._collator(100, 0.15)([{"input_ids": [2, *range(10, 70), 3]} for _ in range(400)])
    assert batch["input_ids"].shape == (400, 62)
    assert float((batch["labels"] != -100).float().mean()) == pytest.approx(0.15 * 60 / 62, abs=0.01)
    assert int((batch["input_ids"] == 4).sum()) == pytest.approx(0.8 * 0.15 * 60 * 400, rel=0.1)


def test_random_text_is_as_asked_and_the_same_every_time() -> None:
    one, again = data.random_text(30_000), data.random_text(30_000)
    assert one.tokens == 30_000
    assert np.array_equal(one.shards[0].ids, again.shards[0].ids)
    assert one.sentences / one.documents == pytest.approx(21, rel=0.3)
    assert one.shards[0].ids.min() >= 5


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(UserError, match=r"pip install 'litebert\[peers\]', or add --no-peer"):
        data._collator(100, 0.15)


def test_a_build_beside_the_bare_engine(built: Made) -> None:
    done = litebert("bench", "build", built.corpus, "--tokenizer", built.tokenizer, "--rounds", 1)
    assert done.code == 0, done.err
    told = done.value
    assert (told["bench"], told["workers"]) == ("build", build.cores())
    assert told["tokens"] == built.done.value["corpus"]["tokens"]
    assert told["ratio"] == pytest.approx(
        told["mb_per_s"] / max(told["peer_batch_mb_per_s"], told["peer_batch_fast_mb_per_s"]), abs=0.02
    )
    assert 0.02 < told["peak_rss_gb"] < 2
    assert "times the faster peer" in done.out
    assert "ratio" not in build.measure([built.corpus], built.tokenizer, 1, peer=False)


def test_the_peer_gets_all_of_the_text(built: Made) -> None:
    batches = list(build._batches([built.corpus], Reading()))
    assert [text.strip() for batch in batches for text in batch] == [text.strip() for text in built.texts]


def test_a_corpus_that_is_refused_is_told_in_one_line(built: Made, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff")
    message = refused("bench", "build", tmp_path / "a.txt", "--tokenizer", built.tokenizer, "--rounds", 1)
    assert message.startswith(f"{tmp_path / 'a.txt'}:1: byte 1 (0xff) is not UTF-8")


def test_a_build_that_is_killed_again_and_again_comes_to_the_same_bytes(built: Made) -> None:
    done = litebert("bench", "faults", built.corpus, "--tokenizer", built.tokenizer, "--kills", 2,
                    "--shard-tokens", 700)  # fmt: skip
    assert done.code == 0, done.err
    told = done.value
    assert (told["kills"], told["same"]) == (2, True)
    assert list(told["sets"])[:3] == ["1 workers", "2 workers", "4 workers"]
    assert len(told["sets"]) >= 4
    assert "all the same" in done.out


def test_a_byte_that_differs_is_seen(built: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, more = faults._taken, iter(("", "another byte"))
    monkeypatch.setattr(faults, "_taken", lambda out: taken(out) + next(more))
    told: list[str] = []
    found = faults.measure([built.corpus], built.tokenizer, 0, Options(), workers=(1, 2), watch=told.append)
    assert (found["kills"], found["same"], len(told)) == (0, False, 2)
    monkeypatch.setattr(faults, "measure", lambda *given, **more: found)
    done = litebert("bench", "faults", built.corpus, "--tokenizer", built.tokenizer)
    assert done.code == 1
    assert "NOT the same" in done.out

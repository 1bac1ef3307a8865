"""Does `bench predict` ask both the same sentences, and compare rates and answers, not counts?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litebert.bench import apart, predict, predict_ours, predict_peer
from litebert.errors import UserError
from tasks.test_predict import sentences
from vectors.tiny import wordpiece_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file as SST-2 has them."""
    path = tmp_path / "train.tsv"
    path.write_text("sentence\tlabel\n" + "".join(f"{text}\t0\n" for text in sentences(130, 9)), encoding="utf-8")
    return path


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """The folder of a tokenizer."""
    wordpiece_of().save(tmp_path / "tok")
    return tmp_path / "tok"


def test_both_are_asked_the_same_and_agree(data: Path, tokenizer: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    predict._save(tokenizer, "tiny", tmp_path / "model")
    asked = tmp_path / "asked.json"
    asked.write_text(json.dumps(predict._drawn(data, predict.WARM + 60)), encoding="utf-8")
    said = {}
    for name, module, count in (("ours", predict_ours, 60), ("peer", predict_peer, 20)):
        out = tmp_path / f"{name}.npy"
        found = module.measure(str(tmp_path / "model"), str(asked), count, 8, name, str(out))
        assert found["texts_per_s"] == pytest.approx(count / float(found["seconds"]), rel=0.2)
        said[name] = np.load(out)
    assert [len(one) for one in said.values()] == [60, 20]
    np.testing.assert_allclose(said["ours"][:20], said["peer"], atol=0.02)
    assert said["ours"].std() > 0.001, "answers that are all alike agree with anything"


def test_rates_are_compared_and_so_are_answers(
    data: Path, tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """A ratio of seconds would praise us for asking the peer less."""

    def answered(module: str, call: dict[str, Any]) -> dict[str, float]:
        ours = module.endswith("ours")
        assert len(json.loads(Path(call["sentences"]).read_text(encoding="utf-8"))) == predict.WARM + 60
        assert call["count"] == (60 if ours else 10)
        np.save(call["out"], np.full(call["count"], 0.75 if ours else 0.5))
        return {"texts_per_s": 120.0 if ours else 10.0, "mean_length": 7.0}

    monkeypatch.setattr(apart, "measured", answered)
    found = predict.measure(data, tokenizer, "tiny", texts=60, peer_texts=10)
    assert (found["times_faster"], found["same_label"], found["largest_difference"]) == (12.0, 0.0, 0.25)
    assert (found["texts"], found["peer_texts"]) == (60, 10)
    alone = predict.measure(data, tokenizer, "tiny", texts=60, peer_texts=0)
    assert "times_faster" not in alone


def test_a_file_that_is_too_small_is_told(data: Path, tokenizer: Path) -> None:
    with pytest.raises(UserError, match="ask for fewer"):
        predict.measure(data, tokenizer, "tiny", texts=20_000)
    with pytest.raises(UserError, match="choose tiny, small, base"):
        predict.measure(data, tokenizer, "huge")

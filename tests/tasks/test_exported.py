"""Does transformers compute from a fine-tuning's folder what we do? The same logits, by its class, named alike."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import litebert
from litebert.errors import UserError
from litebert.tasks import trained, untold
from litebert.tasks.examples import Choice, Example, Question, Text, Words
from litebert.tasks.predict import Predictor, opened
from litebert.text import assemble
from litebert.text.tokenizer import Tokenizer
from tasks.finished import finished, folder
from tasks.test_predict import asked, sentences
from vectors.tiny import _metaspace, wordpiece_of, xlnet_of

transformers = pytest.importorskip("transformers")


@functools.cache
def roberta_of() -> Tokenizer:
    """<s> A </s>, with padding behind <s>, from where positions are counted."""
    return _metaspace(assemble.ROBERTA)


CLASSES = {"classify": "SequenceClassification", "multilabel": "SequenceClassification",
           "regress": "SequenceClassification", "tag": "TokenClassification", "span": "QuestionAnswering",
           "choice": "MultipleChoice"}  # fmt: skip
PRESETS = {"albert-base": wordpiece_of, "bert-base": wordpiece_of, "roberta-base": roberta_of,
           "electra-small": wordpiece_of, "xlnet-base": xlnet_of}  # fmt: skip
PROBLEMS = {"classify": "single_label_classification", "multilabel": "multi_label_classification",
            "regress": "regression"}  # fmt: skip


def theirs(kind: str, path: Path) -> Any:
    """The matching Auto class on the folder."""
    return getattr(transformers, f"AutoModelFor{CLASSES[kind]}").from_pretrained(path).eval()


def told(kind: str, model: Any, row: dict[str, torch.Tensor]) -> torch.Tensor:
    """What it says of one item's rows [R, T]: [R, labels], [R, T, labels] or [1, R]."""
    given = {name: one[None] for name, one in row.items()} if kind == "choice" else row
    with torch.no_grad():
        out = model(**given)
    if kind == "span":
        return torch.stack([out.start_logits, out.end_logits], dim=-1)
    return out.logits[0][:, None] if kind == "choice" else out.logits


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", CLASSES)
def test_logits_are_equal(kind: str, preset: str, tmp_path: Path) -> None:
    """A pooler that is lost, a head under another class, positions that are off by two."""
    shape = {
        "roberta-base": {"embedding": 16, "max_positions": 40},
        "xlnet-base": {"embedding": 16, "max_positions": 0},
    }
    made = finished(kind, PRESETS[preset](), preset, **shape.get(preset, {}))
    trained.save(made, tmp_path)
    predictor, model = Predictor(made, "float32"), theirs(kind, tmp_path)
    table = predictor.asked(asked(kind, 9)).table
    name = made.task.spec(made.model.config)[0]
    for number in range(len(table.items)):
        micro = table.fed(np.array([number]), made.task)
        if len({len(row.ids) for row in table.items[number].rows}) > 1 and micro.mask is None:
            pytest.fail("rows of several lengths without a mask")
        row = {"input_ids": micro.ids.long()}
        row |= {} if micro.mask is None else {"attention_mask": micro.mask.long()}
        row |= {} if micro.segments is None else {"token_type_ids": micro.segments.long()}
        with torch.no_grad():
            ours = made.model.logits(name, made.model(micro.ids, micro.mask, micro.segments))
        found = told(kind, model, row)
        if micro.mask is not None and ours.dim() == 3:
            ours, found = ours[micro.mask], found[micro.mask]
        torch.testing.assert_close(found, ours, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_labels_and_problem_are_in_its_config(kind: str, tmp_path: Path) -> None:
    config = theirs(kind, folder(kind, tmp_path)).config
    assert config.problem_type == PROBLEMS[kind]
    names = getattr(finished(kind).task, "names", None)
    assert config.num_labels == (len(names) if names else 1)
    if names:
        assert [config.id2label[i] for i in range(len(names))] == list(names)


def test_its_pipeline_answers_as_we_do(tmp_path: Path) -> None:
    """Ids from another tokenizer, a softmax over other names."""
    texts = sentences(20, 18)
    ask = transformers.pipeline("text-classification", model=str(folder("classify", tmp_path)), device="cpu")
    said = litebert.predict(tmp_path, texts, precision="float32")
    for one, other in zip(ask(texts), said, strict=True):
        assert one["label"] == other.prediction
        assert one["score"] == pytest.approx(other.probability, abs=1e-5)


@pytest.mark.parametrize("kind", [*CLASSES])
def test_a_folder_that_says_no_task_is_asked_by_its_class(kind: str, tmp_path: Path) -> None:
    folder(kind, tmp_path)
    here = [said.answer for said in opened(tmp_path, precision="float32")[0].stream(asked(kind, 6))]
    theirs(kind, tmp_path).save_pretrained(tmp_path / "bare")
    finished(kind).tokenizer.save(tmp_path / "bare")
    predictor, remarks = opened(tmp_path / "bare", precision="float32")
    assert "does not say its task" in remarks[0]
    assert "32 tokens" in remarks[1]
    assert predictor.kind == ("classify" if kind == "multilabel" else kind)
    short = [one for one in asked(kind, 40) if _size(one) < 12]
    assert short
    whole = [said.answer for said in opened(tmp_path, precision="float32")[0].stream(short)]
    for one, other in zip(whole, predictor.stream(short), strict=True):
        if kind == "regress":  # the mean and the spread that it learnt with are not in the config
            assert one.prediction == pytest.approx(2.5 + 1.5 * other.answer.prediction, abs=1e-4)
        else:
            assert one.prediction == other.answer.prediction
    assert here


def test_a_body_without_a_head_is_no_task(tmp_path: Path) -> None:
    made = finished("classify")
    litebert.save(litebert.load(made.model.config, heads=["mlm"]), tmp_path)
    made.tokenizer.save(tmp_path)
    with pytest.raises(UserError, match=r"its heads \(mlm\) do not either"):
        opened(tmp_path)


def test_tags_without_names_are_refused(tmp_path: Path) -> None:
    """Entities cannot be read off LABEL_0."""
    model = theirs("tag", folder("tag", tmp_path))
    model.config.id2label = {i: f"LABEL_{i}" for i in range(5)}
    model.save_pretrained(tmp_path / "bare")
    finished("tag").tokenizer.save(tmp_path / "bare")
    assert untold.is_foreign(tmp_path / "bare")
    with pytest.raises(UserError, match="LABEL_0"):
        opened(tmp_path / "bare")


def _size(example: Example) -> int:
    match example:
        case Text():
            return len(f"{example.text} {example.pair or ''}".split())
        case Words():
            return len(example.words)
        case Question():
            return len(f"{example.question} {example.context}".split())
        case Choice():
            return len(f"{example.context} {example.question} {max(example.options, key=len)}".split())

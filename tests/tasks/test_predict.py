"""Does a finished fine-tuning say of each text what its model says of it alone, whatever it stands beside?"""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import litebert
from litebert import rng
from litebert.errors import UserError
from litebert.tasks import layout
from litebert.tasks import predict as predicting
from litebert.tasks.cutting import Cut
from litebert.tasks.examples import Choice, Example, Question, Text, Words
from litebert.tasks.predict import Predictor, arriving
from tasks.finished import TASKS, finished, folder
from vectors.tiny import WORDS, unigram_of, wordpiece_of, xlnet_of


def sentences(count: int, most: int = 40, seed: int = 0) -> list[str]:
    """Made-up sentences of one to so many words."""
    draw = rng.generator(seed, "predicted")
    return [" ".join(draw.choice(WORDS, draw.integers(1, most + 1))) for _ in range(count)]


def asked(kind: str, count: int) -> list[Example]:
    """Examples of a kind, of all lengths."""
    one, other = sentences(count), sentences(count, 12, seed=1)
    match TASKS[kind].kind:
        case "tag":
            return [Words(tuple(text.split())) for text in one]
        case "span":
            return [Question(asked, text) for asked, text in zip(other, one, strict=True)]
        case "choice":
            return [Choice(text, "is x", tuple(option.split()[:4])) for text, option in zip(one, other, strict=True)
                    if len(option.split()) > 1]  # fmt: skip
    return [Text(text, pair if i % 2 else None) for i, (text, pair) in enumerate(zip(one, other, strict=True))]


def numbers(answer: Any) -> list[float]:
    """Every probability and score of an answer."""
    said = answer._asdict()
    given = said.get("probabilities", [])
    flat = [*(given.values() if isinstance(given, dict) else given), said.get("probability"), said.get("no_answer")]
    return [
        float(one)
        for one in [*flat, said["prediction"] if isinstance(said["prediction"], float) else None]
        if one is not None
    ]


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("preset", ["albert-base", "roberta-base", "xlnet-base"])
def test_company_changes_no_answer(kind: str, preset: str) -> None:
    """Texts in the wrong order, answers read off padding, windows of another text."""
    tokenizer = {"albert-base": wordpiece_of(), "roberta-base": unigram_of(), "xlnet-base": xlnet_of()}[preset]
    more = {"max_positions": 40} if preset == "roberta-base" else {}
    together = Predictor(finished(kind, tokenizer, preset, **more), "float32", batch_tokens=300, window=16)
    alone = Predictor(finished(kind, tokenizer, preset, **more), "float32", batch_tokens=1, window=1)
    examples = asked(kind, 30)
    many = [said.answer for said in together.stream(examples)]
    for example, answer in zip(examples, many, strict=True):
        single = next(alone.stream([example])).answer
        assert answer.prediction == pytest.approx(single.prediction, abs=1e-5) if kind == "regress" else (
            answer.prediction == single.prediction
        )  # fmt: skip
        np.testing.assert_allclose(numbers(answer), numbers(single), atol=1e-5)


@pytest.mark.parametrize("kind", TASKS)
def test_bfloat16_differs_by_its_rounding_alone(kind: str) -> None:
    exact, rounded = (Predictor(finished(kind), precision) for precision in ("float32", "bfloat16"))  # type: ignore[arg-type]
    assert rounded.chosen.dtype != exact.chosen.dtype
    for one, other in zip(exact.stream(asked(kind, 20)), rounded.stream(asked(kind, 20)), strict=True):
        tolerance = 0.1 if kind.startswith(("span", "tag")) else 0.05  # of a span many add up
        if kind in ("classify", "multilabel", "choice", "regress"):
            np.testing.assert_allclose(numbers(one.answer), numbers(other.answer), atol=tolerance)


def test_answers_name_their_texts_in_order() -> None:
    texts = sentences(700)
    said = list(
        Predictor(finished("classify"), window=100).stream([Text(one, id=str(i)) for i, one in enumerate(texts)])
    )
    assert [one.example.id for one in said] == [str(i) for i in range(700)]
    assert all(one.tokens == min(24, len(text.split()) + 2) for one, text in zip(said, texts, strict=True))


def test_memory_does_not_grow_with_the_input() -> None:
    predictor = Predictor(finished("regress"), window=64)

    def peak(count: int) -> int:
        tracemalloc.start()
        for _ in predictor.stream(Text(f"the old boat {number % 7}") for number in range(count)):
            continue
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(300)
    assert peak(6000) < 1.5 * peak(1200)


def test_long_texts_make_a_window_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predicting, "LETTERS", 100)
    groups = list(predicting._grouped([Text("x" * 60) for _ in range(7)], 1000))
    assert [len(group) for group in groups] == [2, 2, 2, 1]


def test_the_first_answers_come_soon_and_the_next_in_more() -> None:
    sizes = [len(group) for group in predicting._grouped([Text("x")] * 20_000, 8192)]
    assert sizes == [256, 1024, 4096, 8192, 6432]


def test_nobody_waits_for_a_text_that_has_not_come() -> None:
    """A window that wants to be full would hold the answer back until the second text is there."""
    answered = threading.Event()

    def texts() -> Iterator[Text]:
        yield Text("the old boat")
        assert answered.wait(30), "the first text was not answered before the second came"
        yield Text("the sea")

    windows = Predictor(finished("classify")).windows(texts(), waiting=False)
    assert [said.example.text for said in next(windows)] == ["the old boat"]  # type: ignore[union-attr]
    answered.set()
    assert [said.example.text for window in windows for said in window] == ["the sea"]  # type: ignore[union-attr]


def test_what_came_meanwhile_is_read_together() -> None:
    groups = arriving(iter([Text(str(i)) for i in range(50)]), 20)
    first = next(groups)
    assert [one.text for group in [first, *groups] for one in group] == [str(i) for i in range(50)]  # type: ignore[union-attr]


def test_a_fault_of_what_arrives_is_told_behind_the_answers_before_it() -> None:
    def texts() -> Iterator[Text]:
        yield Text("the old boat")
        raise UserError("row 2 is no text")

    windows = Predictor(finished("classify")).windows(texts(), waiting=False)
    assert len(next(windows)) == 1
    with pytest.raises(UserError, match="row 2"):
        next(windows)


def test_one_text_and_many_are_asked_alike(tmp_path: Path) -> None:
    run = folder("classify", tmp_path)
    one = litebert.predict(run, "the old boat")
    many = litebert.predict(run, ["the old boat", ("the sea", "is cold"), {"sentence": "x", "label": 7}])
    assert one[0].prediction == many[0].prediction
    assert [type(answer).__name__ for answer in many] == ["Classified"] * 3


@pytest.mark.parametrize(
    ("kind", "given", "wrong"),
    [
        ("classify", 3, "int is not text and pair"),
        ("classify", ["x", ""], r"text:2: the text is empty"),
        ("classify", [("a", "b", "c")], "tuple is not text and pair"),
        ("span", "where is the boat", "str is not question and context"),
        ("span", {"question": "where"}, "no column 'context'"),
        ("choice", ["x"], "str is no question with options"),
        ("tag", [["the", 3]], "number 2"),
    ],
)
def test_a_value_that_is_no_example_is_told(kind: str, given: Any, wrong: str) -> None:
    with pytest.raises(UserError, match=wrong):
        Predictor(finished(kind)).answers(given)


@pytest.mark.parametrize("tokenizer", [wordpiece_of, unigram_of, xlnet_of])
def test_a_few_texts_are_cut_into_the_pieces_of_many(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few go through the engine, many through an encoder of ours."""
    texts = [Text(text) for text in [*sentences(50), "  a  boat ", "x\ty\r\nz", "河山", "", "the (sea)!"]]
    few = layout.texts(texts, tokenizer(), Cut(24))
    monkeypatch.setattr(layout, "FEW", 0)
    many = layout.texts(texts, tokenizer(), Cut(24))
    assert [row.ids.tolist() for (row,) in few] == [row.ids.tolist() for (row,) in many]  # type: ignore[union-attr]


@pytest.mark.parametrize("count", [1, 100])
def test_half_a_character_is_told_by_its_text(count: int) -> None:
    with pytest.raises(UserError, match=rf"text:{count}: .*half a character"):
        Predictor(finished("classify")).answers([*sentences(count - 1), "the \ud800 boat"])


def test_nothing_asked_is_nothing_answered() -> None:
    assert Predictor(finished("classify")).answers([]) == []


def test_entities_stand_where_the_characters_say() -> None:
    text = "The (old boat),  north of the lake's green harbour!"
    found = Predictor(finished("tag", init_std=1.0)).answers([text, "河山 old 河"])
    assert any(answer.entities for answer in found), "a model that names nothing proves nothing"
    for given, answer in zip((text, "河山 old 河"), found, strict=True):
        for one in answer.entities:
            begin, end = one["characters"]
            assert given[begin:end] == one["text"] == one["text"].strip() != ""


def test_an_answer_is_the_stretch_of_the_context_that_it_names() -> None:
    context = "The old  boat “sails”\nto the harbour; the wind is cold, and the lake calm."
    for kind in ("span", "span-answerable"):
        answer = Predictor(finished(kind)).answers(("where is the boat", context))[0]
        assert answer.prediction == (context[answer.start : answer.end] if answer.start >= 0 else "")
        assert answer.best in context


@pytest.mark.parametrize(("device", "wrong"), [("gpu", "choose auto, cpu, cuda"), ("cuda", "no GPU is found")])
def test_a_device_that_is_not_there_is_told(device: str, wrong: str) -> None:
    import torch

    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(UserError, match=wrong):
        predicting.device_of(device)

"""Is an answer found that is in the windows, to the character, and is none given where there is none?"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from interop.peers import peer
from litebert.errors import UserError
from litebert.interop import folder as folders
from litebert.tasks.batches import Table
from litebert.tasks.best_span import Beams
from litebert.tasks.examples import Answer, Place, Question, collect
from litebert.tasks.offsets import Stretch
from litebert.tasks.readers import squad
from litebert.tasks.settings import Tuning
from litebert.tasks.span import Answered, Span
from litebert.tasks.task import Item
from litebert.text import spiece, wordpiece
from tasks.laid import answered, laid
from vectors.tiny import WORDS, model_of, wordpiece_of, xlnet_of

ZH = "海港（harbour）在北边，冷水从北边的河里流到海里。1998年，小船在这里停靠过三次！"


def asked(context: str, *answers: str, question: str = "where is the boat") -> Question:
    """A question whose answers stand in its context, each where it comes first."""
    return Question(question, context, tuple(Answer(one, context.index(one)) for one in answers))


def drawn(count: int, words: int, seed: int = 0, absent: float = 0.0) -> list[Question]:
    """Questions over contexts of many windows."""
    draw, found = np.random.default_rng(seed), []
    for number in range(count):
        context = [str(one) + str(draw.choice(["", "s", "ing", ","])) for one in draw.choice(WORDS, words)]
        first = int(draw.integers(words))
        text = " ".join(context[first : first + int(draw.integers(1, 4))])
        answer = Answer(text, len(" ".join([*context[:first], ""])))
        answers = () if draw.random() < absent else (answer,)
        found.append(Question(" ".join(draw.choice(WORDS, 5)), " ".join(context), answers, f"q{number}"))
    return found


def perfect(items: list[Item]) -> list[Any]:
    """What a model would say that knows every target: start and end scores."""
    said = []
    for item in items:
        scores = np.zeros((item.width, 2), np.float32)
        if not item.target.absent:
            scores[item.target.start, 0] = scores[item.target.end, 1] = 20.0
        said.append(scores)
    return said


def beams(item: Item, no_answer: float) -> Beams:
    """The same of XLNet's head."""
    start, end = np.full(5, item.target.start), np.full((5, 5), item.target.end)
    return Beams(np.zeros(5, np.float32), start, np.zeros((5, 5), np.float32), end, no_answer)


@pytest.mark.parametrize("layout", [wordpiece_of, xlnet_of], ids=["wordpiece", "xlnet"])
@pytest.mark.parametrize("stride", [3, 8, 100])
def test_every_answer_comes_back_to_the_character(layout: Any, stride: int) -> None:
    task, examples = Span(length=48, stride=stride, question=5), drawn(40, 60)
    items = task.items(examples, layout())
    assert max(item.width for item in items) <= 48
    said = task.predictions(examples, items, perfect(items))
    for example, one in zip(examples, said, strict=True):
        assert example.answers
        assert one.prediction == example.answers[0].text
        assert example.context[one.start : one.end] == one.prediction
        json.dumps(one._asdict())
    assert task.score(examples, said) == {"f1": 1.0, "exact": 1.0}


def test_an_answer_that_a_window_cuts_is_not_its_answer() -> None:
    examples = drawn(20, 30)
    items = Span(length=16, stride=4, question=4).items(examples, wordpiece_of())
    for item in items:
        back, target = item.back, item.target
        if target.absent:
            assert (target.start, target.end) == (back.cls, back.cls) == (0, 0)
        else:
            assert back.at <= target.start <= target.end < back.at + len(back.own)
            pieces = Stretch(*(place - back.at + back.window.begin for place in (target.start, target.end)))
            begin, end = back.located.characters(pieces)
            assert back.located.text[begin:end] == examples[item.example].answers[0].text  # type: ignore[index]
    assert 0.1 < sum(item.target.absent for item in items) / len(items) < 0.9


def test_where_no_answer_is_known_nothing_is_asked() -> None:
    task = Span(length=24, stride=8, question=5)
    examples = [one._replace(answers=None) for one in drawn(3, 40)]
    model, items, micro = laid(task, examples)
    assert micro.targets == {}
    assert task.sums(model, micro) == {}
    assert all(item.target is None for item in items)
    assert len(answered(task, examples, model)) == 3


def test_chinese_answers_come_back_and_are_judged_as_cmrc_does() -> None:
    examples = [
        asked(ZH, text, question="小船在哪里") for text in ("海港", "北边的河里", "1998年", "（harbour）", "三次")
    ]
    task = Span.settled(examples, Tuning(length=32, stride=8, question=8))
    assert (task.judge, task.longest) == ("cmrc", 50)
    items = task.items(examples, wordpiece_of())
    said = task.predictions(examples, items, perfect(items))
    found = [one.prediction for one in said]
    assert found[:2] == ["海港", "北边的河里"]
    assert task.score(examples, said)["exact"] >= 0.4


def test_chinese_answers_come_back_with_a_real_vocabulary(shared_data: Path) -> None:
    tokenizer = wordpiece.read(shared_data / "tokenizers" / "bert-base-chinese-vocab.txt")
    texts = ("海港", "北边的河里", "1998年", "（harbour）", "三次", "harbour", ZH[12:50])
    examples = [asked(ZH, text, question="小船在哪里？") for text in texts]
    task = Span.settled(examples, Tuning(length=64, stride=16, question=16))
    items = task.items(examples, tokenizer)
    said = task.predictions(examples, items, perfect(items))
    assert [one.prediction for one in said] == list(texts)
    assert task.score(examples, said) == {"f1": 1.0, "exact": 1.0}


@pytest.mark.parametrize(
    ("scores", "found"), [((-2.0, -3.0), True), ((-2.0, 3.0), True), ((2.0, 3.0), False), ((2.0, -1.0), True)]
)
def test_a_question_has_no_answer_only_if_no_window_has_one(scores: tuple[float, float], found: bool) -> None:
    task = Span(answerable=True, length=48, stride=8, question=5)
    laid_out = ((one, task.items([one], wordpiece_of())) for one in drawn(40, 26))
    example, items = next((one, items) for one, items in laid_out if len(items) == 2)
    (one,) = task.predictions([example], items, [beams(item, no) for item, no in zip(items, scores, strict=True)])
    assert one.no_answer == pytest.approx(1 / (1 + np.exp(-min(scores))))
    assert bool(one.prediction) == found
    assert one.best == (example.answers or (Answer("", 0),))[0].text
    assert (one.start >= 0) == found


def test_the_threshold_is_that_which_suits_the_development_set() -> None:
    task = Span(answerable=True)
    examples = [asked("the sea is cold", *answers) for answers in (["sea"], ["sea"], [], [], ["cold"])]
    said = [Answered("", -1, -1, 1.0, best, absent)
            for best, absent in (("sea", 0.7), ("sea", 0.6), ("sea", 0.9), ("the", 0.95), ("cold", 0.8))]  # fmt: skip
    before = task.score(examples, said)
    assert before["f1"] == 0.4
    assert (before["best_f1"], before["best_exact"]) == (1.0, 1.0)
    assert task.best_threshold(examples, said) == 0.8
    assert Span().best_threshold(examples, said) == 0.5  # nothing to tune


def test_version_2_is_recognised_by_a_question_without_an_answer() -> None:
    plain = Span.settled(drawn(10, 30), Tuning(length=96))
    assert (plain.answerable, plain.judge, plain.measures) == (False, "squad", ("f1", "exact"))
    task = Span.settled(drawn(10, 30, absent=0.5), Tuning(length=96, stride=7, question=9))
    assert task.spec(model_of(wordpiece_of()).config)[0] == "span-answerable"
    task.threshold = 0.25
    assert Span.restored(json.loads(json.dumps(task.saved()))).saved() == task.saved()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"long": "tail"}, "long 'tail' has no meaning for span"),
        ({"weights": "balanced"}, "weights 'balanced' has no meaning for span"),
        ({"smoothing": 0.1}, "smoothing 0.1 has no meaning for span"),
        (
            {"length": 64, "question": 60},
            "question 60 leaves no room for a context in length 64: choose a length of 68",
        ),
    ],
)
def test_a_setting_without_meaning_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        Span.settled(drawn(2, 10), Tuning(**changes))
    assert str(error.value).startswith(said)


def test_half_a_character_in_a_question_is_named_with_its_place() -> None:
    with pytest.raises(UserError, match=r"^dev.json:5: '\\udc00' at character 1 is half a character"):
        Span().items([Question("\udc00", "the sea", (), place=Place("dev.json", 5))], wordpiece_of())


@torch.no_grad()
@pytest.mark.parametrize("absent", [0.0, 0.5], ids=["1.1", "2.0"])
@pytest.mark.parametrize("left", [False, True], ids=["behind", "in front"])
def test_padding_moves_neither_loss_nor_answer(absent: float, left: bool) -> None:
    tokenizer, preset = (xlnet_of(), "xlnet-base") if left else (wordpiece_of(), "albert-base")
    examples = [one for count in (6, 17, 40) for one in drawn(4, count, count, absent)]
    task = Span(answerable=absent > 0, length=32, stride=8, question=5)
    name, head = task.spec(model_of(tokenizer, preset).config)
    model = model_of(tokenizer, preset, {name: head})  # type: ignore[arg-type]
    items = task.items(examples, tokenizer)
    table = Table(items, tokenizer.specials.pad, left=left)
    whole = table.fed(np.arange(len(items)), task)
    together = task.outputs(model, whole)
    alone = [table.fed(np.array([number]), task) for number in range(len(items))]
    for name in task.counts(whole):
        parts = [task.sums(model, micro)[name] for micro in alone]
        sums = task.sums(model, whole)[name]
        assert float(sum(part.loss for part in parts)) == pytest.approx(float(sums.loss), rel=1e-4)
        assert float(sum(part.right for part in parts)) == float(sums.right)
    said = task.predictions(examples, items, [task.outputs(model, micro)[0] for micro in alone])
    assert [one.best for one in said] == [one.best for one in task.predictions(examples, items, together)]


@torch.no_grad()
def test_the_head_of_version_2_costs_what_it_costs_in_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    assert transformers
    theirs = peer("xlnet", "ForQuestionAnswering", tmp_path / "peer").eval()
    examples, tokenizer = drawn(6, 12, absent=0.5), xlnet_of()
    task = Span(answerable=True, length=40, question=5)
    name, head = task.spec(folders.describe(tmp_path / "peer")[0])
    model = folders.load(tmp_path / "peer", {name: head}, dtype=torch.float32).eval()
    items = task.items(examples, tokenizer)
    for item in items:  # one by one: padding would stand in front
        micro = Table([item], tokenizer.specials.pad, left=True).fed(np.array([0]), task)
        loss = theirs(
            micro.ids, token_type_ids=micro.segments, start_positions=micro.targets["start"],
            end_positions=micro.targets["end"], is_impossible=micro.targets["absent"],
            cls_index=torch.tensor([item.back.cls]), p_mask=micro.targets["forbidden"].float(),
        ).loss  # fmt: skip
        ours = sum(float(sums.loss) for sums in task.sums(model, micro).values())
        assert ours == pytest.approx(float(loss), abs=1e-4)


def test_one_answer_for_all_questions_is_a_collapse() -> None:
    task = Span()

    def said(text: str, start: int) -> Answered:
        return Answered(text, start, start + len(text), 1.0, text, None)

    assert task.collapsed([said("", -1)] * 10) == "no question is given an answer"
    assert task.collapsed([said("sea", number) for number in range(10)]) == "every question is answered 'sea'"
    assert task.collapsed([said("x" * number, 0) for number in range(1, 11)]) == (
        "every answer begins at character 1 of its context"
    )
    assert task.collapsed([said("x" * number, number) for number in range(1, 11)]) == ""
    assert task.collapsed([said("sea", 0)] * 9) == ""  # so few may be alike by chance


@pytest.mark.parametrize("context", ["sea " * 250_000, "`` " * 333_333, "河" * 1_000_000],
                         ids=["words", "quotes", "characters"])  # fmt: skip
def test_a_context_of_a_million_characters_is_laid_out_in_seconds(context: str) -> None:
    began = time.process_time()
    task = Span(length=384, stride=128, question=64)
    example = Question("sea", context, (Answer(context[900:904].strip(), 900),))
    items = task.items([example], wordpiece_of())
    assert len(items) > 1000
    task.predictions([example], items, perfect(items))
    assert time.process_time() - began < 15


def test_every_answer_of_squads_windows_comes_back_to_the_exact_string(shared_data: Path) -> None:
    """All 10,570 questions; of one the answer, "four", stands nowhere but within "fourth", which is one piece."""
    tokenizer = spiece.read(shared_data / "tokenizers" / "albert-en-spiece.model")
    read = collect(squad.read(shared_data / "squad" / "dev-v1.1.json")).examples
    examples = [one for one in read if isinstance(one, Question)]
    items = Span().items(examples, tokenizer)
    known, exact = set(), set()
    for item in items:
        if not item.target.absent:
            back = item.back
            pieces = Stretch(*(place - back.at + back.window.begin for place in item.target[:2]))
            begin, end = back.located.characters(pieces)
            golds = [answer.text.strip() for answer in examples[item.example].answers or ()]
            known.add(item.example)
            if back.located.text[begin:end] in golds:
                exact.add(item.example)
    assert len(examples) == len(known) == 10_570
    assert [examples[number].id for number in known - exact] == ["56dfa1d34a1a83140091ebd4"]

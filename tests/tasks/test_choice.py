"""Is the right one of a question's options learnt and told, whatever their number, and is only the context cut?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from litebert.errors import UserError
from litebert.tasks import layout, whole
from litebert.tasks.choice import Choice, Chosen
from litebert.tasks.cutting import Cut
from litebert.tasks.examples import Choice as Question
from litebert.tasks.examples import Place
from litebert.tasks.settings import Tuning
from litebert.text.tokenizer import Tokenizer
from tasks.laid import laid
from vectors.tiny import WORDS, unigram_of, wordpiece_of, xlnet_of

TUNING = Tuning(length=32, question=8)
ASKED = [
    Question("the old boat sails", "is the boat", ("old", "small"), 0, place=Place("data.json", 1)),
    Question("a green lake", "the lake is _", ("green", "cold", "calm", "north"), 3, place=Place("data.json", 2)),
    Question("the wind", "", ("calm", "cold", "old"), 1, place=Place("data.json", 3)),
]


def logits_of(made: Choice, examples: list[Question]) -> list[torch.Tensor]:
    """The scores of each question's options, each row read on its own: nothing is padded, no row has a neighbour."""
    model, items, _ = laid(made, examples)
    found = []
    for item in items:
        rows = [model.logits("choice", model(torch.tensor(np.array(row.ids)[None]).long(),
                                             segments=torch.tensor(np.array(row.segments)[None]).long()))
                for row in item.rows]  # fmt: skip
        found.append(torch.cat(rows).squeeze(-1))
    return found


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_is_torchs_over_each_questions_own_options(smoothing: float) -> None:
    made = Choice.settled(ASKED, TUNING.but(smoothing=smoothing))
    model, _, micro = laid(made, ASKED)
    sums = made.sums(model, micro)["choice"]
    alone = logits_of(made, ASKED)
    wanted = [F.cross_entropy(one[None], torch.tensor([q.answer]), label_smoothing=smoothing)
              for one, q in zip(alone, ASKED, strict=True)]  # fmt: skip
    torch.testing.assert_close(sums.loss / sums.count, torch.stack(wanted).mean(), atol=1e-5, rtol=1e-5)
    assert float(sums.right) == sum(int(one.argmax()) == q.answer for one, q in zip(alone, ASKED, strict=True))
    assert made.counts(micro) == {"choice": 3.0}
    sums.loss.backward()  # type: ignore[no-untyped-call]
    slopes = [tensor.grad for tensor in model.parameters() if tensor.grad is not None]
    assert all(bool(torch.isfinite(slope).all()) for slope in slopes)
    assert any(bool(slope.any()) for slope in slopes)


def test_what_is_told_are_the_shares_of_each_questions_own_options() -> None:
    made = Choice.settled(ASKED, TUNING)
    model, items, micro = laid(made, ASKED)
    with torch.no_grad():
        together = made.predictions(ASKED, items, made.outputs(model, micro))  # two, four and three rows side by side
    for said, alone in zip(together, logits_of(made, ASKED), strict=True):
        assert said.probabilities == pytest.approx(alone.softmax(-1).tolist(), abs=1e-5)
        assert (said.prediction, said.probability) == (int(alone.argmax()), max(said.probabilities))


def test_a_question_without_answer_costs_nothing() -> None:
    made = Choice.settled(ASKED, TUNING.but(smoothing=0.1))
    model, _, alone = laid(made, ASKED[:2])
    _, _, among = laid(made, [*ASKED[:2], ASKED[2]._replace(answer=None)])
    one, other = made.sums(model, alone)["choice"], made.sums(model, among)["choice"]
    torch.testing.assert_close(one.loss, other.loss, atol=1e-5, rtol=1e-5)
    assert (float(one.right), float(one.count)) == (float(other.right), float(other.count))
    assert made.counts(among) == {"choice": 2.0}
    assert laid(made, [ASKED[2]._replace(answer=None)]).micro.targets == {}


@pytest.mark.parametrize("tokenizer", [wordpiece_of(), unigram_of(), xlnet_of()], ids=["bert", "albert", "xlnet"])
@pytest.mark.parametrize("long", ["head", "tail"])
def test_question_and_option_keep_their_end_and_the_context_gives_way(tokenizer: Tokenizer, long: Any) -> None:
    question = Question(" ".join(WORDS), "wind water to the boat", ("is small", "is the harbour"), 0)
    (rows,) = layout.choices([question], tokenizer, Cut(16, long), 5)
    context, specials = tokenizer.encode(question.context), layout.frame_of(tokenizer).specials(True)
    room = 16 - specials - 5
    for row, option in zip(rows, question.options, strict=True):
        ids = np.asarray(row.ids).tolist()
        assert len(ids) == 16
        asked = tokenizer.encode(f"{question.question} {option}")[-5:]
        kept = context[:room] if long == "head" else context[-room:]
        special = {tokenizer.specials.cls, tokenizer.specials.sep}
        assert [one for one in ids if one not in special] == [*kept, *asked]


def test_a_short_question_leaves_its_room_to_the_context() -> None:
    tokenizer = wordpiece_of()
    (rows,) = layout.choices([Question(" ".join(WORDS), "", ("sea", "old boat"), 0)], tokenizer, Cut(12), 5)
    assert [len(row.ids) for row in rows] == [12, 12]
    assert [int(np.sum(row.segments)) for row in rows] == [2, 3]  # the option and the piece behind it


@pytest.mark.parametrize(
    ("question", "option", "text"),
    [
        ("the lake is _ .", "cold", "the lake is cold ."),
        ("____ is _", "sea", "sea is sea"),
        ("is it", "a sea", "is it a sea"),
        ("", "a sea", "a sea"),
        ("the _ .", r"\1 \g<0>", r"the \1 \g<0> ."),
    ],
    ids=["a blank", "blanks", "none", "no question", "an option that looks like a pattern"],
)
def test_an_option_stands_in_the_questions_blank_or_behind_it(question: str, option: str, text: str) -> None:
    assert layout.asking(question, option) == text


@pytest.mark.parametrize(
    ("example", "said"),
    [
        (ASKED[0]._replace(options=("old",)), "data.json:1: 1 options leave no choice: give two or more"),
        (ASKED[0]._replace(answer=2), "data.json:1: answer 2 is none of the options 0 to 1: correct it"),
        (ASKED[0]._replace(answer=-1), "data.json:1: answer -1 is none of the options 0 to 1: correct it"),
        (ASKED[0]._replace(answer=None), "data.json:1: no answer: give every training question"),
    ],
    ids=["one option", "beyond", "below", "none"],
)
def test_a_question_that_cannot_be_learnt_from_is_named(example: Question, said: str) -> None:
    with pytest.raises(UserError) as error:
        Choice.settled([*ASKED, example], TUNING)
    assert said in str(error.value)


def test_settings_without_meaning_and_without_room_are_refused() -> None:
    with pytest.raises(UserError, match="weights 'balanced' has no meaning for choice"):
        Choice.settled(ASKED, TUNING.but(weights="balanced"))
    with pytest.raises(UserError, match="long 'mean' has no meaning for choice"):
        Choice.settled(ASKED, TUNING.but(long="mean"))
    with pytest.raises(UserError, match="question 30 leaves no room for the context in length 32: choose 28 or less"):
        Choice.settled(ASKED, TUNING.but(question=30)).items(ASKED, wordpiece_of())


def test_a_model_that_tells_nothing_apart_is_said_to() -> None:
    made, draw = Choice(), np.random.default_rng(0)

    def said(scores: Any) -> list[Chosen]:
        return made.predictions([], [], list(scores))

    assert made.collapsed(said(draw.standard_normal((20, 4)))) == ""
    third = np.tile([0.0, 0.1, 2.0, 0.2], (20, 1)) + 0.1 * draw.standard_normal((20, 4))
    assert made.collapsed(said(third)) == "chooses option 3 of all 20 questions"
    hair = 1e-4 * draw.standard_normal((20, 4))
    assert made.collapsed(said(hair)) == "gives all options of all 20 questions the same probability"
    assert made.collapsed(said(third[: whole.MANY - 1])) == ""
    assert made.score([*ASKED, ASKED[0]._replace(answer=None)], said(np.eye(4)[[0, 3, 2, 0]])) == {
        "accuracy": pytest.approx(2 / 3)
    }

"""Are entities those that seqeval and nervaluate find, whatever tags stand beside each other?"""

from __future__ import annotations

import numpy as np
import pytest

from litebert.errors import UserError
from litebert.tasks import entities
from litebert.tasks.entities import Entity

CASES = 10_000
# When a chunk ends between two tags of one type, and when one begins: the tables of conlleval, which seqeval took over.
_ENDS, _BEGINS = "EB ES EO BB BS BO IB IS IO SB SS SO EI EE SI SE", "EB ES BB BS IB IS SB SS OB OS EI EE SI SE OI OE"
ENDS_BETWEEN, BEGINS_BETWEEN = set(_ENDS.split()), set(_BEGINS.split())


def slowly(tags: list[str]) -> list[Entity]:
    """Tag by tag through conlleval's two tables; where the types differ a chunk ends and another begins."""
    found, begin = [], 0
    before, type_before = "O", ""
    for at, tag in enumerate([*tags, "O"]):
        letter, _, type_now = tag.partition("-")
        other = type_now != type_before
        if before != "O" and (before + letter in ENDS_BETWEEN or other):
            found.append(Entity(type_before, begin, at))
        if letter != "O" and (before + letter in BEGINS_BETWEEN or other):
            begin = at
        before, type_before = letter, type_now
    return found


def drawn(count: int, letters: str, seed: int) -> list[list[str]]:
    """Sequences in which everything that may not stand beside each other does."""
    draw = np.random.default_rng(seed)
    names = ["O", *(f"{letter}-{name}" for letter in letters for name in ("x", "y-z"))]
    return [[names[i] for i in draw.integers(len(names), size=int(draw.integers(1, 9)))] for _ in range(count)]


@pytest.mark.parametrize("letters", ["BI", "I", "BIES"])
def test_entities_are_those_of_the_tables(letters: str) -> None:
    for tags in drawn(CASES, letters, 1):
        assert entities.entities(tags) == slowly(tags), tags


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("O O", ""),
        ("B-x I-x O", "x 0 2"),
        ("I-x I-x O", "x 0 2"),  # nothing begins it, and yet it is one
        ("B-x I-y", "x 0 1, y 1 2"),
        ("B-x B-x", "x 0 1, x 1 2"),
        ("O I-x B-x", "x 1 2, x 2 3"),
        ("B-x I-x E-x S-x", "x 0 3, x 3 4"),
        ("E-x E-x", "x 0 1, x 1 2"),
        ("S-x I-x", "x 0 1, x 1 2"),
        ("B-x-y I-x-y", "x-y 0 2"),
        ("B I", " 0 2"),
    ],
)
def test_what_cannot_be_is_read_as_others_read_it(tags: str, found: str) -> None:
    wanted = [one.rsplit(" ", 2) for one in found.split(", ") if one]
    assert entities.entities(tags.split()) == [Entity(name, int(start), int(end)) for name, start, end in wanted]


@pytest.mark.parametrize("tag", ["X-person", "b-person", "O-person", "", "person", "BI-x"])
def test_a_tag_of_another_form_is_named(tag: str) -> None:
    with pytest.raises(UserError, match="begin with B, I, E or S: write it like B-person"):
        entities.entities(["O", tag])


def test_figures_are_those_of_nervaluate() -> None:
    nervaluate = pytest.importorskip("nervaluate")
    gold, said = drawn(CASES, "BI", 2), drawn(CASES, "BI", 3)
    said = [(two * 9)[: len(one)] for one, two in zip(gold, said, strict=True)]
    for at in range(0, CASES, 3):  # else hardly anything would be found
        said[at] = list(gold[at])
    theirs = nervaluate.Evaluator(gold, said, tags=["x", "y-z"], loader="list").evaluate()
    ours = entities.measured(gold, said)
    for rates, strict in [
        (ours.all, theirs["overall"]["strict"]),
        *((one, theirs["entities"][one.name]["strict"]) for one in ours.types),
    ]:
        assert rates.hits == strict.correct
        assert rates.gold == strict.possible
        assert rates.guessed == strict.actual
        assert (rates.precision, rates.recall, rates.f1) == pytest.approx((strict.precision, strict.recall, strict.f1))
    assert 0.3 < ours.all.f1 < 0.8


def test_a_known_report_comes_out() -> None:
    """seqeval's own example: of MISC one is found with a wrong end, PER is right."""
    gold = [["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    said = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    found = entities.measured(gold, said)
    assert found.all.f1 == 0.5
    assert [(one.name, one.f1, one.gold) for one in found.types] == [("MISC", 0.0, 1), ("PER", 1.0, 1)]


def test_nothing_to_find_and_nothing_found_is_no_success() -> None:
    found = entities.measured([["O", "O"]], [["O", "O"]])
    assert (found.all.precision, found.all.recall, found.all.f1) == (0.0, 0.0, 0.0)
    assert found.types == []


def test_tags_for_other_words_are_not_measured() -> None:
    with pytest.raises(UserError, match="1 tags were guessed for the 2 words of text 2: tag each word"):
        entities.measured([["O"], ["O", "O"]], [["O"], ["O"]])

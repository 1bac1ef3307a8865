"""Does no text lie on both sides of a split, is the share what was asked, and does a file that grows keep its sides?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from litebert.errors import UserError
from litebert.tasks.benchmarks import named
from litebert.tasks.examples import Choice, Example, Question, Text, Words
from litebert.tasks.splits import Split, notes, split


def texts(count: int, labels: int = 3, seed: int = 0) -> list[Example]:
    """Texts, a tenth of which stand there twice, with labels of which the last is rare."""
    random = np.random.default_rng(seed)
    names = random.integers(0, int(count * 0.9), count)
    drawn = random.choice(labels, count, p=np.array([0.7, 0.25, 0.05])[:labels] if labels == 3 else None)
    return [Text(f"text {name}", None, f"c{label}") for name, label in zip(names, drawn, strict=True)]


def sides(found: Split) -> tuple[set[Example], set[Example]]:
    return set(found.train), set(found.dev)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_ten_thousand_rows_give_the_share_in_every_label(share: float) -> None:
    rows = texts(10_000)
    found = split(rows, share, seed=0)
    assert len(found.train) + len(found.dev) == len(rows)
    assert len(found.dev) == pytest.approx(share * len(rows), rel=0.15)
    of, taken = (Counter(one.label for one in some if isinstance(one, Text)) for some in (rows, found.dev))
    for label, count in of.items():
        deviation = (2 * count * share * (1 - share)) ** 0.5  # twice: rows of one text go together
        assert abs(taken[label] - share * count) < 4 * deviation


def test_no_text_lies_on_both_sides() -> None:
    rows = texts(2000)
    train, dev = ({one.text for one in side if isinstance(one, Text)} for side in split(rows, 0.2, seed=1)[:2])
    assert len(train | dev) < len(rows)
    assert not train & dev


def test_a_pair_and_the_same_pair_turned_round_go_together() -> None:
    rows: list[Example] = [Text(*(f"a{i}", f"b{i}")[::step], "x") for i in range(300) for step in (1, -1)]
    train, dev = ({frozenset((one.text, one.pair)) for one in side if isinstance(one, Text)}
                  for side in split(rows, 0.3, seed=0)[:2])  # fmt: skip
    assert dev
    assert not train & dev


def test_no_article_and_no_passage_is_parted() -> None:
    questions: list[Example] = [
        Question(f"q{i}", f"context {i // 3}", (), group=f"article {i // 30}") for i in range(900)
    ]
    train, dev = ({one.group for one in side if isinstance(one, Question)} for side in split(questions, 0.2, 0)[:2])
    assert len(dev) == 6  # of 30 articles
    assert not train & dev
    unnamed: list[Example] = [Question(f"q{i}", f"context {i // 3}", ()) for i in range(900)]
    train, dev = ({one.context for one in side if isinstance(one, Question)} for side in split(unnamed, 0.2, 0)[:2])
    assert not train & dev
    exams: list[Example] = [
        Choice(f"passage {i // 4}", f"q{i}", ("a", "b"), 0, group="mh"[i % 8 > 3]) for i in range(900)
    ]
    train, dev = ({one.context for one in side if isinstance(one, Choice)} for side in split(exams, 0.2, 0)[:2])
    assert not train & dev


def test_a_file_that_grows_keeps_its_sides() -> None:
    rows = texts(6000)
    before, after = split(rows[:5000], 0.1, seed=2), split(rows, 0.1, seed=2)
    common = Counter(one.label for one in rows[:5000] if isinstance(one, Text))
    assert min(common.values()) < 300  # the rare label has few, the others many
    moved = [one for one in (*(set(before.dev) & set(after.train)), *(set(before.train) & set(after.dev)))
             if isinstance(one, Text)]  # fmt: skip
    assert [one for one in moved if one.label != "c2"] == []
    assert len(moved) <= 12


def test_the_order_of_rows_changes_no_side() -> None:
    rows = texts(500)
    assert sides(split(rows, 0.1, 0)) == sides(split(rows[::-1], 0.1, 0))


def test_a_seed_gives_the_same_split_and_another_one_another() -> None:
    rows = texts(500)
    assert split(rows, 0.1, seed=4) == split(rows, 0.1, seed=4)
    assert sides(split(rows, 0.1, seed=4)) != sides(split(rows, 0.1, seed=5))


def test_both_sides_keep_the_order_of_the_file() -> None:
    rows: list[Example] = [Words((f"w{i:04}",), ("O",)) for i in range(400)]
    found = split(rows, 0.25, seed=0)
    assert found.train == sorted(found.train)
    assert found.dev == sorted(found.dev)
    assert len(found.dev) == pytest.approx(100, abs=35)


@pytest.mark.parametrize("count,wanted", [(2, 1), (3, 1), (10, 1), (20, 2), (99, 10)])
def test_few_examples_of_a_label_give_the_nearest_number(count: int, wanted: int) -> None:
    rows: list[Example] = [Text(f"{label} {i}", None, label) for label in "ab" for i in range(count)]
    assert Counter(one.label for one in split(rows, 0.1, 0).dev if isinstance(one, Text)) == {"a": wanted, "b": wanted}


def test_a_label_with_one_example_is_learnt_from_and_told() -> None:
    rows: list[Example] = [*(Text(f"t{i}", None, "often") for i in range(20)), Text("alone", None, "once")]
    found = split(rows, 0.3, seed=0)
    assert rows[-1] in found.train
    assert found.notes == ["1 label has a single example, from which nothing can be learnt and judged both: 'once'"]


def test_what_two_given_sides_lack_is_told() -> None:
    train: list[Example] = [Text(f"t{i}", None, label) for i, label in enumerate("aaabbc")]
    dev: list[Example] = [Text("t0", None, "a"), Text("u", None, "d"), Text("v", None, "d"), Text("w", None, "e")]
    assert notes(train, dev) == [
        "2 labels have a single example, from which nothing can be learnt and judged both: 'c', 'e'",
        "labels that the development set does not have: 'b'",
        "labels that the training set does not have: 'd'",
        "1 of 4 development examples share their text with training examples",
    ]


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_that_leaves_one_side_empty_is_refused(share: float) -> None:
    with pytest.raises(UserError, match="leaves one side empty: choose more than 0 and less than 1"):
        split(texts(10), share, 0)


def test_what_cannot_be_parted_is_refused() -> None:
    alike: list[Example] = [Text("the same", None, "ab"[i % 2]) for i in range(50)]
    says = r"50 examples in 1 groups, each of the same text .* give no share of 0\.1, .*: name a development file"
    with pytest.raises(UserError, match=says):
        split(alike, 0.1, 0)
    with pytest.raises(UserError, match="name a development file"):
        split([], 0.1, 0)


def test_real_articles_are_not_parted(shared_data: Path) -> None:
    rows = named("squad-1.1").read(shared_data, "dev").examples
    train, dev = split(rows, 0.2, seed=0)[:2]
    assert len(dev) == pytest.approx(0.2 * len(rows), rel=0.3)
    for name in ("group", "context"):
        assert not {getattr(one, name) for one in train} & {getattr(one, name) for one in dev}

"""Is every problem counted, and the first few of a kind named?"""

from __future__ import annotations

from litebert.text.items import Problem
from litebert.text.tally import Tally, where


def test_problems_are_counted_by_kind_the_most_frequent_first_with_the_first_places() -> None:
    nuls = [Problem("NUL bytes", "a.txt", place, "a space stands for each", 10) for place in range(1, 6)]
    tally = Tally([*nuls, Problem("empty file", "b.txt", 0, "0 bytes"), Problem("bad record", "c.jsonl", 7, "is null")])
    tally.add(Problem("bad record", "d.jsonl", 1234, "is null"))
    assert tally.counts == {"NUL bytes": 50, "empty file": 1, "bad record": 2}
    each = "(a space stands for each)"
    assert tally.lines() == [
        f"NUL bytes: 50, in a.txt:1 {each}; a.txt:2 {each}; a.txt:3 {each} and 2 more places",
        "bad record: 2, in c.jsonl:7 (is null); d.jsonl:1234 (is null)",
        "empty file: 1, in b.txt (0 bytes)",
    ]


def test_kinds_of_one_count_stand_by_name_and_great_counts_are_readable() -> None:
    tally = Tally([Problem("invalid UTF-8", "b", 1, "x"), Problem("empty file", "a", 0, "x")])
    assert [line.split(":")[0] for line in tally.lines()] == ["empty file", "invalid UTF-8"]
    assert Tally([Problem("NUL bytes", "a", 1, "x", 1234567)]).lines() == ["NUL bytes: 1,234,567, in a:1 (x)"]
    assert Tally().lines() == []


def test_the_place_is_a_line_if_one_is_known() -> None:
    assert where(Problem("bad record", "a.jsonl", 3, "")) == "a.jsonl:3"
    assert where(Problem("empty file", "a.jsonl", 0, "")) == "a.jsonl"

"""Are several runs told apart, and is what differs in their settings all that differs?"""

from __future__ import annotations

from pathlib import Path

import pytest

from litebert.lab import beside


def test_folders_of_one_name_are_told_by_their_paths() -> None:
    assert beside.names([Path("x/run"), Path("y/run"), Path("z")]) == ["x/run", "y/run", "z"]


def test_a_part_alone_needs_no_name() -> None:
    assert beside.each(["a"], ["<p>one</p>"]) == "<p>one</p>"
    several = beside.each(["a", "<b>"], ["<p>one</p>", "<p>two</p>"])
    assert several.count("<details") == 2
    assert several.count("<details open>") == 1
    assert "&lt;b&gt;" in several


def test_differences_are_the_values_that_differ() -> None:
    texts = ['start = "a"\n[x]\none = 1\ntwo = 2\n[[phase]]\nlength = 128\n', "[x]\none = 1\ntwo = 3\n"]
    found = beside.differences(texts)
    assert found == [("start", ["a", "—"]), ("x.two", ["2", "3"]), ("phase.1.length", ["128", "—"])]


def test_settings_are_shown_whole_under_what_differs() -> None:
    html = beside.settings(["a", "b"], ["[x]\none = 1\n", "[x]\none = 2\n"], "x.toml")
    assert html.index("x.one") < html.index("<details>")
    assert html.count("<pre>") == 2
    assert "open" not in html
    assert "They are the same." in beside.settings(["a", "b"], ["[x]\n"] * 2, "x.toml")


@pytest.mark.parametrize("text", ["", "  \n"])
def test_settings_that_are_missing_are_said_to_be(text: str) -> None:
    assert "The folder holds no x.toml." in beside.settings(["a"], [text], "x.toml", ["<i>why</i>"])
    assert "<i>why</i>" in beside.settings(["a"], [text], "x.toml", ["<i>why</i>"])

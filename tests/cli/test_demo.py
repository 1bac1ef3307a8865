"""Does `litebert demo` go through the whole family, leave its report, and fail when a check fails?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.running import litebert
from litebert import presets
from litebert.config import Config
from litebert.lab import demo, family
from litebert.rng import generator

WORDS = "list string object name value file method class function returns the a of is if a".split(" ")  # noqa: SIM905


def prose(number: int) -> str:
    """A document of made-up sentences, the same for the same number."""
    draw = generator(0, "demo", number)
    return "\n".join(" ".join(draw.choice(WORDS, 9)) + "." for _ in range(40))


GOOD = {"parameters": ("1", True), "paths": ("0", True), "padding": ("0", True), "reload": ("0", True)}


def failing(name: str) -> Any:
    """Checks that hold for all twins but that of one preset."""
    names = iter(presets.names())

    def check(config: Config) -> dict[str, tuple[str, bool]]:
        return {**GOOD, "padding": ("3e-01", next(names) != name)}

    return check


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Only these presets, so that the real checks take a second."""
    names = ["albert-base", "xlnet-base", "electra-small"]
    monkeypatch.setattr(presets, "names", lambda: names)
    return names


def test_it_checks_and_reports_and_ends_with_0(few: list[str], tmp_path: Path) -> None:
    done = litebert("demo", "--family", "--folder", tmp_path / "report")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[:2] for line in done.out.splitlines()[:-1]] == [["ok", name] for name in few]
    assert done.out.endswith(f"3 of 3 presets checked: {tmp_path / 'report/family.md'}\n")
    assert "FAILED" not in (tmp_path / "report/family.md").read_text()
    assert [twin["passed"] for twin in json.loads((tmp_path / "report/family.json").read_text())] == [True] * 3


def test_a_check_that_fails_is_named_and_ends_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "check", failing("xlnet-base"))
    done = litebert("demo", "--folder", tmp_path)
    assert (done.code, done.err) == (1, "")
    count = len(presets.names())
    assert f"{count - 1} of {count} presets checked: " in done.out
    assert [line.split()[1] for line in done.out.splitlines() if line.strip().startswith("FAILED")] == ["xlnet-base"]
    assert (tmp_path / "family.md").read_text().count("**FAILED**") == 1
    told = json.loads((tmp_path / "family.json").read_text())
    assert [twin["name"] for twin in told] == presets.names()
    assert [twin["name"] for twin in told if not twin["passed"]] == ["xlnet-base"]


def test_json_is_one_object_whatever_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "check", failing("xlnet-large"))
    done = litebert("demo", "--folder", tmp_path, "--json")
    assert (done.code, done.out.count("\n")) == (1, 1)
    assert (done.value["failed"], done.value["twins"]) == (["xlnet-large"], len(presets.names()))
    assert Path(done.value["family"]) == tmp_path / "family.md"


def test_the_whole_way_ends_with_what_was_learnt_and_a_page(
    few: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "VOCABULARY", 40)
    (tmp_path / "text.txt").write_text("\n\n".join(prose(number) for number in range(60)))
    monkeypatch.setattr(demo, "CORPUS", str(tmp_path / "text.txt"))
    done = litebert("demo", "--for", "6 steps", "--folder", tmp_path)
    assert done.code == 0, done.err
    assert "3 of 3 presets checked" in done.out
    assert done.out.splitlines()[-1] == f"the report is {tmp_path / 'report.html'}"
    assert "unigram floor" in done.out
    assert [text for text in demo.BLANKS if text in done.out] == list(demo.BLANKS)
    for made in ("tokenizer/tokenizer.json", "shards/manifest.json", "run/config.json", "report.html"):
        assert (tmp_path / made).is_file(), made
    again = litebert("demo", "--for", "2 steps", "--folder", tmp_path, "--json")
    assert (again.code, again.value["run"]["steps"], len(again.value["blanks"])) == (0, 2, 3)

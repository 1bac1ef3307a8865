"""Does a long task tell its rate and the time left: in a bar on a terminal, in plain lines elsewhere?"""

from __future__ import annotations

import pytest

from litebert.cli.progress import Meter


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_elsewhere_than_on_a_terminal_a_line_comes_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with Meter("encoding", clock) as meter:
        for second in range(35):
            clock.now = 100.0 + second
            meter(second / 100, {"B": 3e6 * second, "tokens": 700_000 * second})
    out, error = capsys.readouterr()
    assert out == ""
    assert error.splitlines() == [
        "encoding: 10% · 3 MB/s · 700 ktokens/s · 0:01:30 left",
        "encoding: 20% · 3 MB/s · 700 ktokens/s · 0:01:20 left",
        "encoding: 30% · 3 MB/s · 700 ktokens/s · 0:01:10 left",
    ]


def test_what_was_done_before_counts_neither_for_the_rate_nor_for_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    """A build that goes on at half of the corpus has not done that half in its first second."""
    clock = Clock()
    with Meter("encoding", clock) as meter:
        meter(0.5, {"tokens": 1e9})
        clock.now += 10
        meter(0.6, {"tokens": 1e9 + 5e6})
    assert capsys.readouterr().err == "encoding: 60% · 500 ktokens/s · 0:00:40 left\n"


def test_without_progress_no_time_left_is_made_up(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with Meter("encoding", clock) as meter:
        meter(0.0, {"tokens": 0})
        clock.now += 20
        meter(0.0, {"tokens": 0})
    assert capsys.readouterr().err == "encoding: 0% · 0 tokens/s\n"


def test_a_line_aside_stays(capsys: pytest.CaptureFixture[str]) -> None:
    with Meter("encoding") as meter:
        meter.aside("a [strange] line")
    assert capsys.readouterr().err == "a [strange] line\n"


def test_on_a_terminal_it_is_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    clock = Clock()
    with Meter("encoding", clock) as meter:
        meter(0.0, {"tokens": 0})
        clock.now += 4
        meter(0.25, {"tokens": 8e6})
        meter.aside("one thing")
    error = capsys.readouterr().err
    for said in ("encoding", "━", "25% · 2 Mtokens/s · 0:00:12 left", "one thing"):
        assert said in error, said

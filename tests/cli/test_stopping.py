"""Do Ctrl-C and SIGTERM end a verb in one line that says how to go on, with the signal in the exit code?"""

from __future__ import annotations

import os
import signal
import time

import pytest
import typer

from litebert.cli.stopping import stoppable


def reached(number: int) -> None:
    """Work that a signal reaches."""
    os.kill(os.getpid(), number)
    time.sleep(5)
    pytest.fail("the work went on")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_work_and_tells_how_to_go_on(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(typer.Exit) as left, stoppable("go on with the same command"):
        reached(number)
    assert left.value.exit_code == 128 + number
    assert capsys.readouterr().err == "litebert: stopped: go on with the same command\n"
    assert signal.getsignal(signal.SIGTERM) == before


def test_work_that_ends_by_itself_leaves_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stoppable("never told"):
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
    with pytest.raises(ZeroDivisionError), stoppable("never told"):
        raise ZeroDivisionError
    assert capsys.readouterr().err == ""

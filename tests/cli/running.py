"""How does a test run the command line? In process, and it sees what a shell would: exit code, output, errors."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from typing import Any, NamedTuple
from unittest import mock

from litebert.cli import main


class Done(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The JSON in the last line."""
        return json.loads(self.out.splitlines()[-1])


def litebert(*arguments: object) -> Done:
    """`litebert ARGUMENTS` through the console script's own function."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings(),
        mock.patch.object(sys, "argv", ["litebert", *map(str, arguments)]),
    ):  # fmt: skip
        code = 0
        try:
            main.run()
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else int(left.code is not None)
    return Done(code, out.getvalue(), err.getvalue())


def refused(*arguments: object) -> str:
    """The one line with which a wrong call is refused: exit code 2, nothing on standard output."""
    done = litebert(*arguments)
    assert done.code == 2, f"exit code {done.code}, not 2: {done.out}{done.err}"
    assert done.out == ""
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("litebert: "), done.err
    return done.err.removeprefix("litebert: ").rstrip("\n")

"""What went wrong? Two exceptions whose message is one line: a wrong call, and a run that could not be finished."""

from __future__ import annotations


class UserError(ValueError):
    """A mistake in what was asked for; the command line prints it and exits with 2."""


class RunError(RuntimeError):
    """A run that failed by itself; the command line says what happened and the way out, and exits with 1."""

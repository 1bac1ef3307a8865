"""What went wrong by the user's hand? One exception whose message is one line: the value, the rule, the fix."""

from __future__ import annotations


class UserError(ValueError):
    """A mistake in what was asked for; the command line prints it and exits with 2."""

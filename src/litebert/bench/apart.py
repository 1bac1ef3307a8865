"""How is a competitor measured? In a process of its own, so that its memory can be told and nothing of it lingers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from litebert.errors import RunError, UserError


def measured(module: str, call: dict[str, Any]) -> dict[str, float]:
    """What `python -m module` says in its last line, as JSON; `call` is its one argument."""
    done = subprocess.run([sys.executable, "-m", module, json.dumps(call)], capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise RunError(f"{call['mode']} could not be measured: {last}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def check_modes(modes: Sequence[str], known: Sequence[str]) -> None:
    """Raise where the peer's mode is unknown, or the peer is not there."""
    for mode in modes:
        if mode not in known:
            raise UserError(f"mode {mode!r} of the peer is unknown: choose {', '.join(known)}")
    needed = [name for name in ("transformers", "accelerate") if modes and find_spec(name) is None]
    if needed:
        raise UserError(f"bench runs {' and '.join(needed)} beside: pip install 'litebert[peers]', or add --no-peer")

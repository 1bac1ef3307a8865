"""Does a run begin without libraries that it does not use? To import one takes longer than to make a small model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
sys.path.insert(0, {tests!r})
from train.tiny import prepared, run_of
from litebert.optim.schedule import Progress, Stopwatch
from litebert.train import feeding, loop
made = prepared(run_of("model.dropout=0.1"))
feed = feeding.portions(made.run, made.shards, made.vocabulary, made.trainer.world, feeding.START, lambda: 0.0)
next(loop.steps(made.trainer, feed, Progress(), Stopwatch(lambda: 0.0), lambda: True))
feed.close()
print([slow for slow in ("torch._dynamo", "sympy", "transformers", "matplotlib") if slow in sys.modules])
"""


def test_a_step_of_a_new_model_needs_neither_compiler_nor_symbols() -> None:
    tests = str(Path(__file__).resolve().parents[1])
    done = subprocess.run([sys.executable, "-c", CODE.format(tests=tests)], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr

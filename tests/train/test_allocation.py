"""Do freed tensors stay with the process, so that a second step asks the system for no new pages?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from litebert.train import allocation

FAULTS = """
import resource, torch
from litebert.train import allocation
{call}
def step():
    kept = [torch.ones(30_000_000) for _ in range(2)]
    del kept
for _ in range(8): step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5): step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(call: str) -> int:
    """Page faults of five steps of 240 MB each, after eight others."""
    done = subprocess.run([sys.executable, "-c", FAULTS.format(call=call)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be told so")
def test_a_second_step_asks_for_no_new_pages() -> None:
    if not allocation.keep():
        pytest.skip("this C library cannot be told so")
    assert faults("allocation.keep()") < 200
    assert faults("") > 5000

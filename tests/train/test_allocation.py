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
found = []
for _ in range(16):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    kept = [torch.ones(30_000_000) for _ in range(2)]
    del kept
    found.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(min(found))
"""


def faults(call: str) -> int:
    """Page faults of the step that has fewest, of sixteen steps of 240 MB."""
    done = subprocess.run([sys.executable, "-c", FAULTS.format(call=call)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be told so")
def test_a_second_step_asks_for_no_new_pages() -> None:
    if not allocation.keep():
        pytest.skip("this C library cannot be told so")
    assert faults("allocation.keep()") < 100
    assert faults("") > 20_000

"""Why do freed tensors stay with the process? So that the next step need not ask the system for the same pages again.

The C library gives large blocks back when they are freed, and the system hands out zeroed pages for the next ones: with
32 million bytes of activations a step these are thousands of page faults, three to six percent of its time
(LOG.md). Peak memory stays what it was.
"""

from __future__ import annotations

import ctypes
import functools
import sys

_TRIM, _TOP_PAD, _MMAP = -1, -2, -3  # of glibc's malloc.h
_MOST = (1 << 31) - 1
_PAD = 1 << 26  # bytes asked for at a time


@functools.cache
def keep() -> bool:
    """From now on; whether this system's C library can be told so (glibc's can)."""
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return False
    return all(
        library.mallopt(what, value) == 1 for what, value in ((_MMAP, 1 << 30), (_TRIM, _MOST), (_TOP_PAD, _PAD))
    )

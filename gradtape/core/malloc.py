"""A setting of the C allocator: freed memory stays with the process, to be used again."""

from __future__ import annotations

import numpy as np


def keep_freed_memory() -> None:
    """Let the C library keep freed arrays of up to 31 MiB for the next ones, instead of returning them to the system.

    glibc hands every freed block above 128 KiB back, and the system clears and maps new pages for the next one: for a
    product of two arrays that is most of its time. It stops doing so for blocks up to the size of the largest (of at
    most 32 MiB) that a program has freed, so one that is never touched is allocated and freed here. Elsewhere this does
    nothing.
    """
    np.empty(31 << 20, np.uint8)

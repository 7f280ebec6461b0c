"""A progress bar that needs nothing: tqdm's where it is installed and there is a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator


def progress(steps: int, label: str) -> Iterator[int]:
    """Count from 0 to `steps` - 1 and show how far it is."""
    if sys.stdout.isatty():
        try:
            from tqdm import trange
        except ImportError:
            yield from _redrawn(steps, label)
        else:
            yield from trange(steps, desc=label, file=sys.stdout)
    else:
        yield from _lines(steps, label)


def _bar(done: int, steps: int, label: str) -> str:
    filled = 30 * done // steps
    return f"{label} [{'#' * filled}{'.' * (30 - filled)}] {done}/{steps}"


def _redrawn(steps: int, label: str) -> Iterator[int]:
    """One line, written over itself."""
    for step in range(steps):
        yield step
        print("\r" + _bar(step + 1, steps, label), end="", flush=True)
    print()


def _lines(steps: int, label: str) -> Iterator[int]:
    """Five lines in all, for files and pipes."""
    marks = {steps * part // 5 for part in range(1, 6)}
    for step in range(steps):
        yield step
        if step + 1 in marks:
            print(_bar(step + 1, steps, label), flush=True)

"""What the commands know of the terminal: whether to use colours, how wide it is, and how to show progress."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


def has_colour(stream: TextIO) -> bool:
    """Whether to write colours to `stream`: it is a terminal that knows them, and NO_COLOR is not set."""
    return bool(stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")


def width(stream: TextIO) -> int:
    """The columns to fill: those of the terminal within reason, 80 elsewhere."""
    return min(max(shutil.get_terminal_size().columns, 60), 120) if stream.isatty() else 80


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on a terminal what is being done, for as long as it lasts."""
    shown = sys.stderr.isatty()
    if shown:
        print(f"{what} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print("\r" + " " * (len(what) + 4) + "\r", end="", file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """An error of usage, on stderr."""
    print(f"gradtape: {message}", file=sys.stderr)

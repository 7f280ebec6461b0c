"""What the programs of `exam/whole` print for `exam/whole.py`: digests of what they computed, and times of their steps.

    steps = Steps()
    for batch in batches:
        with steps:
            ...
    steps.finish(parameters, random_states)

The times are those of the processor, of all threads, so that other work on the machine does not show in them. The
random streams of Python and NumPy are seeded here, because a program that does not use them has to leave them alone.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

random.seed(0)
np.random.seed(0)


class Steps:
    """Measures the steps of a program: each is a block, or lies between `begin` and `end`."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._started = 0.0

    def begin(self) -> None:
        """A step begins."""
        self._started = time.process_time()

    def end(self) -> None:
        """A step has ended."""
        self.times.append(time.process_time() - self._started)

    def __enter__(self) -> Steps:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def finish(self, values: Iterable[Any], states: Iterable[Any]) -> None:
        """Print the digest of the final parameters, the digest of the random states, and the times of the steps."""
        print("values", digest(values))
        print("random", digest(states))
        print("times", json.dumps([round(each, 6) for each in self.times]))


def digest(values: Iterable[Any]) -> str:
    """The digest of the bytes, shapes and dtypes of arrays."""
    made = hashlib.sha256()
    for value in values:
        array = np.ascontiguousarray(value)
        made.update(f"{array.shape} {array.dtype}".encode())
        made.update(array.tobytes())
    return made.hexdigest()[:16]

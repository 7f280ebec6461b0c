"""`tape.saved()`: the arrays that a tape keeps alive for its gradients, and the lines that saved them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.graph import Node
from gradtape.core.saved_arrays import LockedArray
from gradtape.core.shapes import Shape
from gradtape.explain.queries.coverage import recorded_nodes

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape

ROWS_SHOWN = 30


@dataclass(frozen=True)
class SavedValue:
    """Arrays of one shape that one operation of one line saved: `count` of them, `bytes` in all."""

    operation: str
    place: str
    source: str
    shape: Shape
    dtype: str
    count: int
    bytes: int


@dataclass(frozen=True)
class Saved:
    """What a tape keeps alive, the largest first; made by `tape.saved()`.

    Memory that several operations saved is counted once, for the oldest of them.

    >>> import numpy as np, gradtape as gt
    >>> w = gt.Variable(np.ones(1000))
    >>> with gt.GradientTape() as tape:
    ...     y = np.exp(w) * 2.0
    >>> saved = tape.saved()
    >>> [(row.operation, row.shape, row.bytes) for row in saved.rows], saved.total
    ([('exp', (1000,), 8000)], 8000)
    """

    rows: tuple[SavedValue, ...]

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return sum(row.bytes for row in self.rows)

    def __str__(self) -> str:
        if not self.rows:
            return "the tape keeps no array alive"
        cells = [("bytes", "operation", "shape", "dtype", "line", "")]
        for row in self.rows[:ROWS_SHOWN]:
            times = f" x {row.count}" if row.count > 1 else ""
            cells.append((f"{row.bytes:,}", row.operation, f"{row.shape}{times}", row.dtype, row.place, row.source))
        widths = [max(len(line[column]) for line in cells) for column in range(5)]
        lines = [
            f"{line[0]:>{widths[0]}}  "
            + "  ".join(f"{cell:<{width}}" for cell, width in zip(line[1:5], widths[1:]))
            + f"  {line[5]}"
            for line in cells
        ]
        if len(self.rows) > ROWS_SHOWN:
            rest = self.rows[ROWS_SHOWN:]
            lines.append(f"{sum(row.bytes for row in rest):>{widths[0]},}  in {len(rest)} smaller rows")
        lines.append(f"{self.total:>{widths[0]},}  in all")
        return "\n".join(line.rstrip() for line in lines)


def saved(tape: GradientTape) -> Saved:
    """What `tape.saved()` returns."""
    seen: set[int] = set()
    totals: dict[tuple[Any, ...], tuple[Node, int, int]] = {}
    for node in recorded_nodes(tape):
        for array in _saved_arrays(node):
            memory = _base_array(array)
            if id(memory) in seen:
                continue
            seen.add(id(memory))
            key = (node.op, id(node.code), node.offset, array.shape, array.dtype)  # hashing a code object is slow
            first, count, size = totals.get(key, (node, 0, 0))
            totals[key] = first, count + 1, size + memory.nbytes
    rows = []
    for (op, _, _, shape, dtype), (node, count, size) in totals.items():
        where = node.location
        rows.append(SavedValue(op.name, str(where), where.source, shape, str(dtype), count, size))
    return Saved(tuple(sorted(rows, key=lambda row: -row.bytes)))


def _saved_arrays(node: Node) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays that `node` holds; one element is not worth a row."""
    out = node.out if isinstance(node.out, tuple) else (node.out,)
    for value in (*node.inputs, *out):
        array = value.array if isinstance(value, LockedArray) else value
        if isinstance(array, np.ndarray) and array.ndim:
            yield array


def _base_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that owns the memory: a view keeps all of its base alive."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array

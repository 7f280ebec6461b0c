"""Segments: parts of a trace of which the tracer already knows that they repeat, and what may vary in a repetition."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.jit.ir.program import Instruction

MIN_MATCHES = 3
"""How many equal iterations make a loop."""
INDEXED = frozenset({"getitem", "scatter", "set", "add_at"})
"""Operations whose parameter `index` may change from iteration to iteration."""
_ARITHMETIC = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum"})


class Segment(NamedTuple):
    """Instructions from `begin` to `end` of a trace that repeat those one `period` before them.

    Repeat means: the same operation, at the same source location, on the same literals, and on values that are either
    identical or equally far back. This also holds for the `MIN_MATCHES` periods before `begin`, and the results of all
    of them are numbered consecutively. Only an index parameter or a numeric literal may differ, at the positions of the
    period in `varying`.

    If all operations took the fast path, `nodes` are their graph nodes, of the same form and on the same tapes in all
    iterations. From the second period on, the parents of a node are the nodes of its operands, which lie as far back as
    `back` says for each position and operand, and the node saves these operands. A loop-invariant operand, with its
    node, has 0 in `back`.
    """

    begin: int
    end: int
    period: int
    varying: frozenset[int]
    back: tuple[tuple[int, ...], ...]
    nodes: list[Any]


def may_vary(instruction: Instruction, kind: type) -> bool:
    """Whether a literal of this type may differ between iterations: an array element in its place must give the same
    result. This holds for integers in arithmetic with a floating-point result."""
    if kind is float:
        return instruction.op.ufunc
    return kind is int and instruction.name in _ARITHMETIC and instruction.results[0].dtype.kind == "f"

"""A recorded operation in the user's code: its expression, the names of its operands, and their values at one element.

Messages about a NaN or a zero name the operation, the element and the values there, and try edits on those values.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.explain.model.problem import Fix, Operand
from gradtape.explain.model.record import Record, Replayable
from gradtape.explain.source.expression import is_written, site_at
from gradtape.explain.source.files import one_line


class OperationSite:
    """The expression of an operation, its operands by their names, and their values at one element."""

    def __init__(self, replay: Replayable, node: Record, index: tuple[int, ...], slot: int | None = None) -> None:
        self.node, self.name, self.replay = node, node.operation, replay
        self.site = site_at(node.location)
        self.span = self.site.span
        self.values = replay.inputs(node)
        known = [np.empty(0) if value is None else value for value in self.values]
        self.parts = [None] * len(known) if not isinstance(self.site.node, ast.expr) else self.site.parts(known)
        self.is_written = is_written(self.site, self.name)
        is_call = isinstance(self.site.node, ast.Call)
        if node.location.in_rule or (is_call and not self.is_written and not self._is_whole(known)):
            self.parts = [None] * len(known)  # the operation is a part of what the call does, or of its derivative
        elif isinstance(self.site.node, ast.Call | ast.BinOp | ast.UnaryOp | ast.AugAssign):
            self.parts = [
                part or candidate
                for part, candidate in zip(self.parts, [*self.site._candidates(len(known)), *[None] * len(known)])
            ]
        for i, part in enumerate(self.parts):
            if self.values[i] is None and isinstance(part, ast.Constant) and isinstance(part.value, float | int):
                self.values[i] = part.value
        self.index = index
        self.slot = slot

    def _is_whole(self, inputs: Sequence[Any]) -> bool:
        """Whether the operation is the whole call: it has the name of the function, and an operand per argument."""
        arguments = [part for part in self.site._candidates(len(inputs)) if not is_literal(part)]
        return len(self.node.parents) == len(arguments) and self.node.operation == self.called

    @property
    def called(self) -> str:
        """The name of the function that is called; empty if the expression is not a call."""
        function = getattr(self.site.node, "func", None)
        return str(getattr(function, "attr", getattr(function, "id", "")))

    @property
    def expression(self) -> str:
        """The source text of the operation if it is short, else the name of the operation."""
        text = one_line(self.span.text)
        return text if isinstance(self.site.node, ast.expr) and len(text) <= 50 else self.name

    def operand(self, i: int) -> str:
        """The text of an operand in the source, if it is short; else words for it."""
        part = self.parts[i] if i < len(self.parts) else None
        text = "" if part is None else one_line(self.site.source.text(part))
        if text and len(text) <= 40:
            return text
        return (
            "its operand"
            if len(self.values) == 1
            else ("the left operand", "the right operand", "operand 2")[min(i, 2)]
        )

    def element(self, i: int) -> Any:
        """The value of operand `i` at `index`, if it is known."""
        value = self.values[i]
        if value is None:
            return None
        try:
            if np.shape(value) == () or np.size(value) == 1:
                return np.asarray(value).reshape(-1)[0]
            if self.slot == i:
                return np.asarray(value)[self.index]
            if len(self.index) != len(self.node.shape):
                return None
            shape = np.broadcast_shapes(np.shape(value), self.node.shape)
            return np.broadcast_to(value, shape)[self.index] if shape == self.node.shape else None
        except (ValueError, IndexError):
            return None

    def facts(self) -> str:
        """`where x is 0 and y is 2.5`."""
        found = []
        for i in range(len(self.values)):
            value = self.element(i) if self.node.kind == "elementwise" or self.slot == i else None
            if i < len(self.parts) and self.parts[i] is None and isinstance(self.site.node, ast.Call):
                continue  # an operand inside the call, which has no name
            if value is not None and not (i < len(self.parts) and is_literal(self.parts[i])):
                found.append(f"{self.operand(i)} is {number(value)}")
        return " and ".join(found)

    def where(self) -> str:
        """The index of the element and the values of the operands there, as the end of a sentence."""
        place = f" at {list(self.index)}" if self.index else ""
        facts = self.facts()
        return place + (f", where {facts}" if facts else "")

    def operands(self) -> list[Operand]:
        """The operands that are expressions, with shape, dtype and origin; literals are left out."""
        shown = []
        for i, parent in enumerate(self.node.parents):
            part = self.parts[i] if i < len(self.parts) else None
            if part is None or is_literal(part):
                continue
            shape = parent.shape if parent.is_tracked else np.shape(self.values[i])
            if not parent.is_tracked and self.values[i] is None:
                continue
            made = None
            if parent.operation:
                made = site_at(parent.location).span
                if (made.file, made.line) == (self.span.file, self.span.line):
                    made = None
            shown.append(Operand(self.operand(i), shape, str(parent.dtype), made, self.site.source.span(part)))
        return shown

    # -- edits, checked on the values

    def edit(self, i: int, text: str, change: Callable[[Any], Any]) -> list[Fix]:
        """Operand `i` replaced by `text` (with {} for the operand), if result and derivative are finite then."""
        value, part = self.values[i], self.parts[i] if i < len(self.parts) else None
        if value is None or part is None or not isinstance(self.site.node, ast.expr):
            return []
        with np.errstate(all="ignore"):
            changed = [change(np.asarray(v)) if k == i else v for k, v in enumerate(self.values)]
            if any(v is None for v in changed) or not self.works(changed):
                return []
        inner, is_sum = self.site.source.text(part), text.startswith("{}")
        is_atom = isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant)
        new = text.format(inner if is_atom or not is_sum else f"({inner})")
        if is_sum and (not isinstance(self.site.node, ast.Call) or part not in self.site.node.args):
            new = f"({new})"
        whole = self.span
        if whole.column is None:
            return []
        start, end = self.site.region(part, whole)
        return [Fix(one_line(whole.text[:start] + new + whole.text[end:]), True, whole)]

    def works(self, inputs: Sequence[Any]) -> bool:
        """Whether the operation has a finite result and finite derivatives for other inputs."""
        out = self.replay.apply_forward(self.node, inputs)
        if not is_finite(np.asarray(out)):
            return False
        given = self.replay.apply_reverse(self.node, np.ones(self.node.shape, self.node.dtype), out, inputs)
        return all(g is None or is_finite(g) for g in given)


def is_literal(part: ast.expr | None) -> bool:
    """Whether an operand is a literal number."""
    return isinstance(part.operand if isinstance(part, ast.UnaryOp) else part, ast.Constant)


def number(value: Any) -> str:
    """A number in at most four digits."""
    value = np.asarray(value).item()
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def is_finite(value: Any) -> bool:
    """Whether a value has no NaN and no infinity; anything but floating point numbers has none."""
    return (
        not isinstance(value, (np.ndarray, np.generic))
        or value.dtype.kind not in "fc"
        or bool(np.isfinite(value).all())
    )

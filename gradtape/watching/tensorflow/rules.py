"""Rules of `tf.custom_gradient`: their shape, their number, and whether they are the derivative.

The operations inside the function are recorded like all others, so that its derivative is known without calling
anything of the user's again. Rules that differ on purpose (of rounding, of the identity, of relu) are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import CodeType
from typing import Any

import numpy as np

from gradtape.explain.emit.policy import is_due, report, warn
from gradtape.explain.messages import problem
from gradtape.explain.messages.build import at
from gradtape.explain.model.problem import Fix, Problem, source_edit
from gradtape.explain.source.files import one_line, returned_span, source_of
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.record import CONSTANT, OperationRecord, WatchedRecord

_SMOOTH = frozenset({
    "add", "subtract", "multiply", "divide", "power", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "square",
    "sigmoid", "tanh", "softplus", "softsign", "sin", "cos", "tan", "arctan", "sinh", "cosh", "erf", "reciprocal",
    "matmul", "einsum", "sum", "mean", "softmax", "log_softmax", "negative", "xlogy", "squared_difference",
})  # fmt: skip
_CURVED = _SMOOTH - {"add", "subtract", "multiply", "divide", "negative", "matmul", "einsum", "sum", "mean"}
_MOVING = frozenset({"copy", "reshape", "transpose", "getitem", "concatenate", "stack", "broadcast_to", "tile"})
_PIECEWISE = frozenset({"where", "maximum", "minimum", "absolute", "relu", "leaky_relu", "clip"})

ELEMENTS_COMPARED = 4


class CustomRule:
    """One call of a function with a rule of the user's: the record, and what is inside."""

    def __init__(self, record: OperationRecord, inner: WatchedRecord, backward: Any, watch: Any) -> None:
        self.record = record
        self.inner = inner
        self.code = rule_code(backward)
        self._tapes = watch

    def location_span(self, label: str) -> Any:
        """What the rule returns."""
        return returned_span(self.code, label)

    def judge(self, seeds: Sequence[Any], given: Sequence[Any]) -> None:
        """Judge what the rule returned for `seeds`; arrays, None where there is none."""
        wrong = next(
            (
                (spec.shape, np.shape(g), k)
                for k, (spec, g) in enumerate(zip(self.record.operands, given))
                if g is not None and spec.shape is not None and np.shape(g) != spec.shape
            ),
            None,
        )
        if wrong is not None:
            warn(self._shape_problem(*wrong))
            return
        found = self._value_problem(seeds, given)
        if found is not None and is_due("GT320", *found.place[1:]):
            report(found)

    def _shape_problem(self, wanted: Any, shape: Any, index: int) -> Problem:
        extra = len(shape) - len(wanted)
        fixes = f"sum it over the axes that broadcasting has added: tf.reduce_sum(dy, axis={list(range(extra))})"
        return problem(
            "GT302",
            f"the rule of {self.record.operation} returned a gradient of shape {shape} for argument {index}, which has "
            f"shape {wanted}",
            spans=[self.location_span("returned here"), at(self.record.location, "for this call")],
            consequence="TensorFlow does not check it: the gradient has the wrong shape, or another operation fails",
            fixes=[
                *self._summing_fix(index, wanted, shape),
                fixes if extra > 0 else f"return a gradient of shape {wanted}",
            ],
        )

    def _summing_fix(self, index: int, wanted: Any, shape: Any) -> list[Fix]:
        """`tf.reduce_sum(dy, axis=0)` for the `dy` that is returned for an argument that was broadcast."""
        extra = len(shape) - len(wanted)
        span = self.location_span("")
        source = source_of(span.file)
        returned = source.at(span)
        if isinstance(returned, ast.Tuple) and index < len(returned.elts):
            returned = returned.elts[index]
        elif len(self.record.parents) != 1:
            return []
        if not isinstance(returned, ast.expr) or tuple(shape[extra:]) != tuple(wanted) or extra < 1:
            return []
        axis = 0 if extra == 1 else list(range(extra))
        text = f"{source.spelled('sum')}({one_line(source.text(returned))}, axis={axis})"
        return [Fix(text, True, source.span(returned))]

    def _multiplying_fix(self) -> list[Fix]:
        """What the rule returns, multiplied by its argument."""
        span = self.location_span("")
        source = source_of(span.file)
        returned = source.at(span)
        if self.code is None or self.code.co_argcount != 1 or not isinstance(returned, ast.expr):
            return []
        if isinstance(returned, ast.Tuple):
            return []
        text = one_line(source.text(returned))
        is_atom = isinstance(returned, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Constant)
        return [source_edit(f"{self.code.co_varnames[0]} * {text if is_atom else f'({text})'}", source.span(returned))]

    def _value_problem(self, seeds: Sequence[Any], given: Sequence[Any]) -> Problem | None:
        if len(seeds) != 1 or seeds[0] is None or not np.all(np.isfinite(seeds[0])):
            return None
        inside, names = self._operations_inside()
        if not inside or not names - _MOVING or (names - _MOVING <= {"multiply", "negative"} and len(names) < 2):
            return None
        if not names <= _SMOOTH | _MOVING | _PIECEWISE:
            return None
        right = self._derivatives(seeds[0])
        if right is None:
            return None
        for index, (wanted, got) in enumerate(zip(right, given)):
            if wanted is None or got is None or np.shape(wanted) != np.shape(got) or not np.all(np.isfinite(wanted)):
                continue
            if _is_close(wanted, got):
                continue
            plain = self._derivatives(np.ones_like(seeds[0]))
            forgets = plain is not None and plain[index] is not None and _is_close(plain[index], got)
            differs = (names & _CURVED and _differs_everywhere(wanted, got)) or _is_reversed(wanted, got)
            if not forgets and names & _PIECEWISE and not differs:
                continue  # a relu with another slope, on purpose
            return self._wrong_value_problem(index, wanted, got, forgets)
        return None

    def _operations_inside(self) -> tuple[list[WatchedRecord], set[str]]:
        """The operations between the arguments and the result."""
        ends = {parent for parent in self.record.parents if parent is not CONSTANT}
        found: list[WatchedRecord] = []
        pending, seen = [self.inner], {self.inner}
        while pending:
            record = pending.pop()
            if record in ends or record is CONSTANT:
                continue
            found.append(record)
            for index, origin in enumerate(record.origins()):
                if origin not in seen and not record.selects_by(index):
                    seen.add(origin)
                    pending.append(origin)
        return found, {record.operation or record.reason or "leaf" for record in found}

    def _derivatives(self, seed: Any) -> list[Any] | None:
        computation = RecordedComputation([(self.inner, np.asarray(seed, self.inner.dtype))], self._tapes)
        gradients = computation.gradients
        if computation.lost is not None:
            inside = set(self._operations_inside()[0])
            if computation.lost in inside:
                return None
        return [gradients.get(parent) if parent is not CONSTANT else None for parent in self.record.parents]

    def _wrong_value_problem(self, index: int, wanted: Any, got: Any, forgets: bool) -> Problem:
        worst = np.unravel_index(int(np.argmax(np.abs(np.asarray(wanted) - got))), np.shape(wanted))
        element = f" at {[int(k) for k in worst]}" if worst else ""
        numbers = f"{float(np.real(got[worst])):.4g} where the derivative is {float(np.real(wanted[worst])):.4g}"
        words = "; it is right for an upstream gradient of 1 only" if forgets else ""
        span = self.location_span("returned here")
        return problem(
            "GT320",
            f"the rule of {self.record.operation} is not its derivative: it gives {numbers}{element}{words}",
            spans=[span, at(self.record.location, "for this call")],
            consequence="everything before this function gets a wrong gradient",
            fixes=[
                *(self._multiplying_fix() if forgets else []),
                "multiply what is returned by the upstream gradient, which the rule is called with"
                if forgets
                else "compare the rule with the derivative of what the function computes",
            ],
            intent="gt.explain.configure(GT320='off')",
        )


def count_problem(name: str, code: CodeType | None, count: int, location: Any, words: str) -> Problem:
    """A rule returned another number of gradients than its function has arguments."""
    return problem(
        "GT304",
        f"the rule of {name} must return {count} gradients, one for each argument",
        spans=[returned_span(code, "returned here"), at(location, "for this call")],
        notes=[words],
        fixes=f"return {', '.join(f'gradient_{k}' for k in range(count))}; None for an argument without one",
    )


def _differs_everywhere(wanted: Any, got: Any) -> bool:
    """Whether a rule is the derivative at no element, although that is zero nowhere.

    One that differs on purpose, such as the slope of a relu, is right on one side; or its function is flat.
    """
    right, given = np.ravel(wanted), np.ravel(got)
    if right.size < ELEMENTS_COMPARED or not np.all(right):
        return False
    return bool(np.all(np.abs(right - given) > 0.01 * np.abs(right)))


def _is_reversed(wanted: Any, got: Any) -> bool:
    """Whether a rule is zero wherever the derivative is not, and only there: its condition is the wrong way round."""
    right, given = np.ravel(wanted) != 0, np.ravel(got) != 0
    return int(right.sum()) >= ELEMENTS_COMPARED and bool(given.any()) and not bool((right & given).any())


def _is_close(wanted: Any, got: Any) -> bool:
    scale = float(np.max(np.abs(wanted), initial=0.0)) or 1.0
    return bool(np.max(np.abs(np.asarray(wanted) - got), initial=0.0) <= 1e-3 * scale)


def rule_code(backward: Any) -> CodeType | None:
    """The code of the user's rule inside the function that TensorFlow has made around it."""
    names = backward.__code__.co_freevars
    cells = backward.__closure__ or ()
    rule = next((cell.cell_contents for name, cell in zip(names, cells) if name == "grad_fn"), None)
    rule = getattr(rule, "__wrapped__", rule)
    code: CodeType | None = getattr(rule, "__code__", None)
    return code


__all__ = ["CustomRule", "count_problem", "rule_code"]

"""Break every rule of the operation table, one at a time, and see whether the tests notice.

    python -m tests.ops.mutate [operation ...]

A mutant is an operation with one thing wrong: a gradient or a tangent of the wrong sign or too large, the gradients of
two operands exchanged, a broadcast that is not undone, a rule told another axis, a batch in the wrong order. It is
killed when a test of the table fails. Survivors are printed, and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import TABLE

from . import test_table
from .cases import DIFFERENTIABLE, Case, cases

TESTS: tuple[Callable[[str], None], ...] = (
    lambda name: test_table.test_gradient_has_shape_and_dtype_of_its_source(name, "float64"),
    test_table.test_forward_and_reverse_are_adjoint,
    test_table.test_reverse_agrees_with_finite_differences,
    test_table.test_forward_agrees_with_finite_differences,
    test_table.test_vmap_is_a_loop,
)
"""What a mutant has to pass to survive, the quick ones first."""


@dataclass(frozen=True)
class Mutant:
    """One way to be wrong: which attribute of the operation, and what takes its place."""

    what: str
    attribute: str
    replacement: Any


def mutants(op: Op) -> Iterator[Mutant]:
    """The wrong versions of `op` that make sense for it."""
    every = cases(op)
    count = max(len(case.arrays) for case in every)
    for i in sorted(_answered(op, every)):
        yield Mutant(f"sign of gradient {i}", "reverse", _changed(op.reverse, i, lambda g: -g))
        yield Mutant(f"factor of gradient {i}", "reverse", _changed(op.reverse, i, lambda g: g * 2))
    yield Mutant("sign of the tangent", "forward", _tangent(op.forward, lambda t: -t))
    yield Mutant("factor of the tangent", "forward", _tangent(op.forward, lambda t: t * 2))
    if any(_exchangeable(case) for case in every):
        yield Mutant("gradients exchanged", "reverse", _exchanged(op.reverse))
    if op.kind == "elementwise" and count > 1:
        yield Mutant("broadcast not undone", "reverse", _broadcast(op))
    if any(_other_axis(case.params, _rank(case)) for case in every):
        yield Mutant("another axis", "reverse", _axis(op.reverse))
    if op.batch is not None:
        yield Mutant("batch in the wrong order", "batch", _shuffled(op.batch, op.outputs))


def _answered(op: Op, every: list[Case]) -> set[int]:
    """The inputs that the reverse rule has a gradient for; the others are constants by declaration."""
    answered: set[int] = set()

    def spy(g: Any, node: Any, out: Any, inputs: Any) -> Any:
        found = list(op_reverse(g, node, out, inputs))
        answered.update(i for i, gradient in enumerate(found) if gradient is not None)
        return found

    def pull(some: list[Case]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for case in some:
                test_table.pulled(case, case.point, test_table.cotangent(case))

    moving = [case for case in every if case.moving]
    pull(moving[:1])  # a rule is built when it is first used, and would then take the mutant's place
    op_reverse = op.reverse
    with _in_place_of(op, Mutant("", "reverse", spy)):
        pull(moving)
    return answered


def _rank(case: Case) -> int:
    return max(np.ndim(array) for array in case.arrays)


def _exchangeable(case: Case) -> bool:
    """Whether the first two operands have the same shape and are not the same thing."""
    return len(case.moving) > 1 and np.shape(case.point[0]) == np.shape(case.point[1]) != () and case.moving[0] == 0


def _changed(reverse: Any, index: int, change: Callable[[Any], Any]) -> Any:
    def wrong(g: Any, node: Any, out: Any, inputs: Any) -> Any:
        found = list(reverse(g, node, out, inputs))
        if index < len(found) and found[index] is not None:
            found[index] = change(found[index])
        return found

    return wrong


def _tangent(forward: Any, change: Callable[[Any], Any]) -> Any:
    def wrong(node: Any, out: Any, inputs: Any, tangents: Any) -> Any:
        found = forward(node, out, inputs, tangents)
        if isinstance(found, tuple):
            return tuple(None if part is None else change(part) for part in found)
        return None if found is None else change(found)

    return wrong


def _exchanged(reverse: Any) -> Any:
    def wrong(g: Any, node: Any, out: Any, inputs: Any) -> Any:
        first, second, *rest = reverse(g, node, out, inputs)
        return [second, first, *rest]

    return wrong


def _broadcast(op: Op) -> Any:
    """The rule with an `unbroadcast` that only makes room: the first of the repeated elements, not their sum."""

    def first(gradient: Any, shape: tuple[int, ...]) -> Any:
        gradient = gradient.reshape(gradient.shape[gradient.ndim - len(shape) :]) if not gradient.size else gradient
        while gradient.ndim > len(shape):
            gradient = gradient[0]
        return gradient[tuple(slice(0, 1) if n == 1 else slice(None) for n in shape)]

    def wrong(g: Any, node: Any, out: Any, inputs: Any) -> Any:
        right = scope["unbroadcast"]
        scope["unbroadcast"] = first
        try:
            return reverse(g, node, out, inputs)
        finally:
            scope["unbroadcast"] = right

    _build(op)
    reverse = op.reverse
    scope = reverse.__globals__
    return wrong


def _build(op: Op) -> None:
    """Have an elementwise rule written, which happens when it is first used."""
    case = next(case for case in cases(op) if case.moving)
    test_table.pulled(case, case.point, test_table.cotangent(case))


def _other_axis(params: dict[str, Any], rank: int) -> dict[str, Any] | None:
    """The parameters with another axis that the array has too, if there is one."""
    axis = params.get("axis")
    if rank < 2 or axis is None or isinstance(axis, bool):
        return None
    if isinstance(axis, int):
        return {**params, "axis": (axis + 1) % rank}
    if isinstance(axis, tuple) and 0 < len(axis) < rank:
        return {**params, "axis": tuple((a + 1) % rank for a in axis)}
    return None


def _axis(reverse: Any) -> Any:
    def wrong(g: Any, node: Any, out: Any, inputs: Any) -> Any:
        rank = max(len(parent.shape) for parent in node.parents)
        params = _other_axis(node.params, rank)
        if params is None:
            return reverse(g, node, out, inputs)
        other = copy(node)
        other.params = params
        return reverse(g, other, out, inputs)

    return wrong


def _shuffled(batch: Any, several: bool) -> Any:
    def wrong(op: Op, flags: Any, values: Any, params: Any) -> Any:
        found = batch(op, flags, values, params)
        return tuple(part[::-1] for part in found) if several else found[::-1]

    return wrong


@contextmanager
def _in_place_of(op: Op, mutant: Mutant) -> Iterator[None]:
    kept = {name: getattr(op, name) for name in ("reverse", "reverse_large", "forward", "batch", "units")}
    setattr(op, mutant.attribute, mutant.replacement)
    op.reverse_large = op.units = None
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(op, name, value)


def is_killed(op: Op, mutant: Mutant) -> bool:
    """Whether some test fails with `mutant` in the place of what is right."""
    with _in_place_of(op, mutant), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for test in TESTS:
            try:
                test(op.name)
            except Exception:  # a mutant may fail in any way; that it fails is what matters
                return True
    return False


def survivors(name: str) -> tuple[str, int, list[str]]:
    """The name of an operation, how many mutants it had, and those that no test noticed."""
    op = TABLE[name]
    if op.kind == "elementwise":
        _build(op)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for test in TESTS:
            test(name)  # what is right has to pass
    found = list(mutants(op))
    return name, len(found), [mutant.what for mutant in found if not is_killed(op, mutant)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ops.mutate", description=__doc__.split("\n\n")[0])
    parser.add_argument("operations", nargs="*", metavar="operation", help="the rows to break; all, if none is given")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many at once (default: one a core)")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.operations if name not in DIFFERENTIABLE]
    if unknown:
        parser.error(f"no such differentiable operation: {', '.join(unknown)}")
    names = chosen.operations or DIFFERENTIABLE
    total, left = 0, 0
    with ProcessPoolExecutor(chosen.processes) as pool:
        for done, (name, count, surviving) in enumerate(pool.map(survivors, names), 1):
            total += count
            left += len(surviving)
            for what in surviving:
                print(f"survived: {name}: {what}")
            if sys.stderr.isatty():
                print(f"\r{done} of {len(names)} operations", end="", file=sys.stderr)
    print(f"{total} mutants of {len(names)} operations: {total - left} killed, {left} survived")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())

"""Units of a layer that have equal weights and get equal gradients: they stay copies of each other."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.messages.build import at
from gradtape.explain.model.problem import Problem, source_edit
from gradtape.explain.source.files import SourceFile, source_of
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.record import WatchedRecord
from gradtape.watching.tensorflow.recorder import VariableRecord

_LAYERS = frozenset({"matmul", "convolution", "einsum", "linear"})


def has_equal_units(array: Any) -> bool:
    """Whether all units (columns) of a kernel have the same weights."""
    return array.ndim >= 2 and array.shape[-1] > 1 and array.size > 0 and bool(np.all(array == array[..., :1]))


class EqualUnits:
    """Kernels whose units had equal weights, to be looked at again when they have learned."""

    def __init__(self) -> None:
        self._waiting: list[tuple[weakref.ref[Any], Any]] = []

    def look(self, variables: Iterable[Any], read: Any) -> None:
        """Note the kernels whose units are equal now."""
        for variable in variables:
            array = read(variable)
            if array is not None and has_equal_units(array):
                self._waiting.append((weakref.ref(variable), array))

    def judge(self, read: Any, where: Location, names: Any) -> None:
        """Report a kernel that has changed since, and whose units are still equal."""
        for reference, before in self._waiting:
            variable = reference()
            after = None if variable is None else read(variable)
            if after is None or not has_equal_units(after) or np.array_equal(after, before):
                continue
            found = equal_problem(names(variable), after.shape, where)
            if is_due("GT514", *found.place[1:]):
                report(found)
                break
        self._waiting.clear()


def judge_equal_gradients(
    arrivals: Sequence[tuple[WatchedRecord, Any]],
    computation: RecordedComputation,
    where: Location,
    read: Any,
) -> bool:
    """Report a kernel whose units have equal weights and get equal gradients. Whether there was one.

    Where all kernels are zero, so are most gradients: then one of them is reported as well.
    """
    equal: list[tuple[VariableRecord, Any, Any]] = []
    for record, gradient in arrivals:
        if not isinstance(record, VariableRecord) or len(record.shape) < 2:
            continue
        if not any(consumer.operation in _LAYERS for consumer in computation.consumers.get(record, ())):
            continue
        variable = record.reference()
        array = None if variable is None else read(variable)
        if array is not None and (has_equal_units(array) or not np.any(array)):
            equal.append((record, array, gradient))
    zeros = [each for each in equal if not np.any(each[1])]
    for record, array, gradient in equal:
        if not has_equal_units(array) or not has_equal_units(gradient):
            continue
        if not np.any(gradient) and (len(zeros) < 2 or np.any(array)):
            continue
        found = equal_problem(record.name, array.shape, where, record.location)
        if is_due("GT514", *found.place[1:]):
            report(found)
        return True
    return False


def equal_problem(name: str, shape: Sequence[int], where: Location, made: Location | None = None) -> Problem:
    """The units of a layer have equal weights and get equal gradients."""
    spans = [at(where, "the gradient is taken here")]
    source = source_of(where.file)
    constant = _constant_initialisers(source)
    offered: list[str] = []
    if constant:
        span = source.span(constant[0])
        spans.insert(0, span.labelled("equal from here"))
        offered = [source_edit('"glorot_uniform"', span)]
    elif made is not None and made.is_known:
        spans.insert(0, at(made, "made here"))
        offered = _random_fix(made)
    return problem(
        "GT514",
        f"all {shape[-1]} units of {name.split(':')[0]} have the same weights and get the same gradient",
        spans=spans,
        consequence="they stay copies of each other, and the layer computes what one unit would",
        fixes=[*offered, 'random weights to start with: kernel_initializer="glorot_uniform", or tf.random.normal'],
        intent="gt.explain.configure(GT514='off')",
    )


def _random_fix(made: Location) -> list[str]:
    """`tf.random.normal(shape)` for the `tf.zeros(shape)` that a variable was made with."""
    source = source_of(made.file)
    node = source.find(made)
    calls = [
        part
        for part in ([] if node is None else ast.walk(node))
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr in ("zeros", "ones")
        and source.imports.get(getattr(part.func.value, "id", "")) == "tensorflow"
    ]
    if len(calls) != 1 or not isinstance(calls[0].func, ast.Attribute):
        return []
    module = source.text(calls[0].func.value)
    return [source_edit(f"{module}.random.normal", source.span(calls[0].func))]


def _constant_initialisers(source: SourceFile) -> list[ast.expr]:
    """The initialisers of kernels in a file that give all weights the same value: as they are passed, or bound."""
    calls = [node for node in ([] if source.tree is None else ast.walk(source.tree)) if isinstance(node, ast.Call)]
    keywords = [keyword for call in calls for keyword in call.keywords if keyword.arg]
    kernels = [keyword.value for keyword in keywords if keyword.arg == "kernel_initializer"]
    written = [value for value in kernels if _is_constant(value)]
    if written or not any(isinstance(value, ast.Name | ast.Attribute | ast.Subscript) for value in kernels):
        return written
    others = {keyword.value for keyword in keywords if str(keyword.arg).endswith("_initializer")}
    made: list[ast.expr] = [
        call for call in calls if call not in others and _is_constant(call) and "initializer" in source.text(call)
    ]
    return made if len(made) == 1 else []


def _is_constant(value: ast.expr) -> bool:
    """Whether an initialiser gives all weights the same value."""
    if isinstance(value, ast.Constant):
        return str(value.value).lower() in ("zeros", "ones", "zero", "one", "constant")
    name = getattr(value, "func", value)
    return getattr(name, "attr", getattr(name, "id", "")).lower() in ("zeros", "ones", "constant")


__all__ = ["EqualUnits", "judge_equal_gradients"]

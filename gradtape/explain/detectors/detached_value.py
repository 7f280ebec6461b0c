"""Detector: a value left the tape as a plain number and came back as a constant, so its gradient is lost.

A number has no history. It is recognised by the source (the operand reads the expression at which the value left,
directly or through names), or by the number itself, if it has too many digits to be written by hand.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtape.explain.detectors.departure_fixes import (
    array_written_to,
    exit_expression,
    exit_words,
    fixes_for_departure,
    root_name,
)
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.graph.cuts import IN_THREAD
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Record, Replayable
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line, returned_values, source_of, uses_own_numpy

PAIRS_AT_MOST = 4096
ARRAYS_AT_MOST = 64
NAMES_FOLLOWED = 6
_METHODS = frozenset({".item()", ".tolist()"})
_TRANSPARENT_FUNCTIONS = frozenset(
    ["float", "int", "abs", "max", "min", "sum", "round", "pow", "complex", "array", "asarray", "list", "tuple"]
)
_TRANSPARENT_METHODS = frozenset(
    ["sum", "mean", "prod", "std", "var", "max", "min", "dot", "copy", "reshape", "ravel", "astype"]
)

_unrelated_pairs: dict[tuple[Any, ...], tuple[Any, Any]] = {}


def judge_departures(departed: Sequence[Record], replay: Replayable) -> bool:
    """Warn of the first departed value that is a constant operand on the way to the target. Whether it warned."""
    departed = [departure for departure in departed if not _is_intended(departure)]
    if not departed:
        return False
    constants = ConstantOperands(replay)
    for departure in departed:
        in_thread = departure.reason == "another thread"
        edges = constants.holding(departure) if in_thread else constants.computed_from(departure)
        if edges and not _cancels(edges, replay):
            found = (_problem_in_thread if in_thread else _detached_problem)(departure, *edges[0])
            if is_due(found.code, *found.place[1:]):
                report(found)
            return True
    return False


def _is_intended(departure: Record) -> bool:
    """Whether the code says that the gradient is not wanted: by `.item()`, unless it was written for NumPy."""
    return departure.reason in _METHODS and not departure.library and not uses_own_numpy(departure.location.file)


class ConstantOperands:
    """The constant operands on the way to a target, grouped by their place in the code: a loop repeats each place."""

    def __init__(self, replay: Replayable) -> None:
        self._edges = [
            (node, slot)
            for node in reversed(replay.records)
            if node.location.is_known
            for slot in _constant_slots(node)
        ]
        self._by_place: dict[tuple[Any, ...], list[int]] = {}
        for index, (node, slot) in enumerate(self._edges):
            self._by_place.setdefault((*node.place_key, slot), []).append(index)
        self._by_departure: dict[tuple[Any, ...], list[int]] = {}  # by the place of a departure
        self._numbers: dict[Any, list[int]] | None = None
        self._arrays: list[int] = []

    def computed_from(self, departure: Record) -> list[tuple[Record, int]]:
        """The operands, younger than `departure`, that were computed from its value, as names or numbers show."""
        place = departure.place_key
        if place not in self._by_departure:
            self._by_departure[place] = self._find_by_source(departure)
        found = {*self._by_departure[place], *self._find_by_value(departure.params.get("value"))}
        return [self._edges[index] for index in sorted(found) if self._edges[index][0].order >= departure.order]

    def holding(self, departure: Record) -> list[tuple[Record, int]]:
        """The operands that are the value of `departure` itself, or were computed from it by the same thread."""
        return [(node, slot) for node, slot in self._edges if departure in _cuts_of(node.parents[slot])]

    def _find_by_source(self, departure: Record) -> list[int]:
        found: list[int] = []
        for key, edges in self._by_place.items():
            pair = (*departure.place_key, *key)
            if pair in _unrelated_pairs:
                continue
            if _operand_reads(departure, *self._edges[edges[0]]):
                found += edges
            elif len(_unrelated_pairs) < PAIRS_AT_MOST:
                _unrelated_pairs[pair] = departure.location, self._edges[edges[0]][0].location
        return found

    def _find_by_value(self, value: Any) -> list[int]:
        if not _is_recognisable(value):
            return []
        if self._numbers is None:
            self._numbers = {}
            for index, (node, slot) in enumerate(self._edges):
                constant = node.operand_value(slot)
                if constant is None:
                    continue
                if np.size(constant) == 1:
                    self._numbers.setdefault(np.asarray(constant).item(), []).append(index)
                elif len(self._arrays) < ARRAYS_AT_MOST:
                    self._arrays.append(index)
        arrays = [index for index in self._arrays if self._contains(index, value)]
        return [*self._numbers.get(value, ()), *arrays]

    def _contains(self, index: int, value: Any) -> bool:
        node, slot = self._edges[index]
        return bool(np.any(np.asarray(node.operand_value(slot)) == value))


def _cuts_of(parent: Any) -> Sequence[Any]:
    return getattr(parent, "joined", None) or (parent,)


def _constant_slots(node: Record) -> Iterator[int]:
    """The inputs of an operation that are numbers or arrays, not tensors on a tape."""
    if node.operation:
        for index, parent in enumerate(node.parents):
            if not parent.is_tracked:
                yield index


def _is_recognisable(value: Any) -> bool:
    """Whether a number has so many digits that meeting it again is no coincidence."""
    if not isinstance(value, float) or not math.isfinite(value) or abs(value) < 1e-300:
        return False
    return float(f"{value:.6g}") != value


def _operand_reads(departure: Record, node: Record, slot: int) -> bool:
    """Whether an operand is computed from what left at `departure`, as far as names show."""
    site = site_at(node.location)
    part = _operand_expression(site, node, slot)
    return part is not None and _reads(site, part, exit_expression(departure), NAMES_FOLLOWED)


def _operand_expression(site: UserExpression, node: Record, slot: int) -> ast.expr | None:
    if not isinstance(site.node, ast.expr | ast.stmt):
        return None
    candidates = site._candidates(len(node.parents))
    return candidates[slot] if slot < len(candidates) and len(candidates) == len(node.parents) else None


def reads_departure(site: UserExpression, expression: ast.AST, departure: Record) -> bool:
    """Whether an expression of the user is computed from the value that left at `departure`, as far as names show."""
    return _reads(site, expression, exit_expression(departure), NAMES_FOLLOWED)


def _reads(
    site: UserExpression, expression: ast.AST, leaving: tuple[UserExpression, ast.AST | None], names: int
) -> bool:
    """Whether `expression` is computed from the value of `leaving`, as far as operators and names show."""
    elsewhere, left = leaving
    if left is None or elsewhere.source.file != site.source.file:
        return False
    written = array_written_to(left)
    if expression is left or (written is not None and _is_same_array(site, expression, written, names)):
        return True
    if isinstance(expression, ast.BinOp):
        return any(_reads(site, part, leaving, names) for part in (expression.left, expression.right))
    if isinstance(expression, ast.UnaryOp):
        return _reads(site, expression.operand, leaving, names)
    if isinstance(expression, ast.IfExp):
        return any(_reads(site, part, leaving, names) for part in (expression.body, expression.orelse))
    if isinstance(expression, ast.List | ast.Tuple):
        return any(_reads(site, part, leaving, names) for part in expression.elts)
    if isinstance(expression, ast.ListComp | ast.GeneratorExp):
        parts = [expression.elt, *(generator.iter for generator in expression.generators)]
        return any(_reads(site, part, leaving, names) for part in parts)
    if isinstance(expression, ast.Subscript):
        return _reads(site, expression.value, leaving, names)
    if isinstance(expression, ast.Attribute):
        return _attribute_reads(site, expression, leaving, names)
    if isinstance(expression, ast.Call):
        return _call_reads(site, expression, leaving, names)
    if isinstance(expression, ast.Name) and names:
        if _is_appended(site, expression, left):
            return True
        bound = site.binding(expression)
        if bound is None or bound.label:
            passed = _passed_arguments(site, expression)
            reading = [_reads(_in_same_file(site, value), value, leaving, names - 1) for value in passed]
            return bool(reading) and all(reading)
        if bound.file != site.source.file:
            return False
        value = source_of(bound.file).at(bound)
        if value is None or value is expression or isinstance(value, ast.stmt):
            return False
        return _reads(_in_same_file(site, value), value, leaving, names - 1)
    return False


def _is_same_array(site: UserExpression, expression: ast.AST, array: ast.expr, names: int) -> bool:
    """Whether an expression is the array that was written into: by its name, as an attribute, or as an argument.

    A function that writes into its argument writes into what its callers in this file pass.
    """
    if isinstance(expression, ast.Name) and isinstance(array, ast.Name) and expression.id == array.id:
        return site.home(expression, array.id) is site.home(array, array.id)
    if isinstance(expression, ast.Attribute) and isinstance(array, ast.Attribute) and expression.attr == array.attr:
        classes = [_class_of_self(site, each.value) for each in (expression, array)]
        return classes[0] is classes[1] or None in classes
    if isinstance(expression, ast.Subscript) and isinstance(array, ast.Subscript):  # state["u"][i] = x
        return ast.unparse(expression) == ast.unparse(array) and _is_same_array(
            site, expression.value, array.value, names
        )
    if not names or not isinstance(array, ast.Name) or not isinstance(expression, ast.Name | ast.Attribute):
        return False
    return any(_is_same_array(site, expression, passed, names - 1) for passed in _passed_arguments(site, array))


def _class_of_self(site: UserExpression, owner: ast.expr) -> ast.AST | None:
    """The class around an expression `self`; None for the name of another object."""
    if not isinstance(owner, ast.Name) or owner.id != "self":
        return None
    return next((scope for scope in site.source.scopes(owner) if isinstance(scope, ast.ClassDef)), None)


def _passed_arguments(site: UserExpression, name: ast.Name) -> list[ast.expr]:
    """What the calls in this file pass for the argument `name` of the function around it; empty if it is none."""
    function = site.home(name, name.id)
    if not isinstance(function, ast.FunctionDef) or site.source.tree is None:
        return []
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if name.id not in names:
        return []
    index = names.index(name.id) - (names[0] in ("self", "cls"))
    passed: list[ast.expr] = []
    for call in ast.walk(site.source.tree):
        if not isinstance(call, ast.Call):
            continue
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called != function.name:
            continue
        by_keyword = [keyword.value for keyword in call.keywords if keyword.arg == name.id]
        by_place = call.args[index : index + 1] if index >= 0 else []
        passed += by_keyword or by_place
    return passed


def _is_appended(site: UserExpression, name: ast.Name, left: ast.AST) -> bool:
    """Whether the departing value was appended to the list `name`: `values.append(float(x))`."""
    call = site.source.parents.get(left)
    function = call.func if isinstance(call, ast.Call) and left in call.args else None
    if not isinstance(function, ast.Attribute) or function.attr != "append" or not isinstance(function.value, ast.Name):
        return False
    return function.value.id == name.id and site.home(name, name.id) is site.home(left, name.id)


def _attribute_reads(
    site: UserExpression, attribute: ast.Attribute, leaving: tuple[UserExpression, ast.AST | None], names: int
) -> bool:
    """Whether `self.x` is computed from the value of `leaving`: by a property, or where it was last assigned."""
    if attribute.attr == "T":
        return _reads(site, attribute.value, leaving, names)
    if not names:
        return False
    function = site.source.method(attribute.attr)
    if function is not None:
        return any(_reads(_in_same_file(site, value), value, leaving, names - 1) for value in returned_values(function))
    bound = site.binding(attribute)
    value = None if bound is None or bound.file != site.source.file else site.source.at(bound)
    return isinstance(value, ast.expr) and _reads(_in_same_file(site, value), value, leaving, names - 1)


def _in_same_file(site: UserExpression, node: ast.expr) -> UserExpression:
    """The expression `node`, at another place of the same file."""
    there = UserExpression(None)
    there.source, there.node = site.source, node
    return there


def _call_reads(
    site: UserExpression, call: ast.Call, leaving: tuple[UserExpression, ast.AST | None], names: int
) -> bool:
    """Whether a call is computed from the value of `leaving`: in its arguments, or inside a function of this file."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = root_name(function)
    in_part = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Attribute)  # np.linalg.solve
    passes = (
        name in _TRANSPARENT_FUNCTIONS
        or owner == "math"
        or (site.source.is_array_module(owner) and (in_part or hasattr(np, name)))
    )
    if passes and any(_reads(site, argument, leaving, names) for argument in call.args):
        return True
    if isinstance(function, ast.Attribute) and name in _TRANSPARENT_METHODS:
        return _reads(site, function.value, leaving, names)
    called = None
    if names:
        called = site.source.method(name) if isinstance(function, ast.Attribute) else site.source.function(name)
    returned = [] if called is None else returned_values(called)
    return any(_reads(_in_same_file(site, value), value, leaving, names - 1) for value in returned)


def _cancels(edges: Sequence[tuple[Record, int]], replay: Replayable) -> bool:
    """Whether the lost gradient is zero, as for a maximum that is subtracted and added again."""
    total, size = 0.0, 0.0
    for node, slot in edges:
        lost = replay.gradient_of_constant(node, slot)
        if lost is None:
            return False
        total += float(np.sum(lost).real)
        size += float(np.sum(np.abs(lost)))
    return abs(total) <= 1e-9 * size


# -- what to say


def _problem_in_thread(departure: Record, node: Record, slot: int) -> Problem:
    """The warning for a value that a thread has computed which did not see the tape."""
    site, came = site_at(departure.location), site_at(node.location)
    return problem(
        "GT211",
        "a value was computed in a thread that does not see the tape, and came back as a constant",
        spans=[site.span.labelled("computed here, in another thread"), came.span.labelled("came back here")],
        consequence="the gradient through it is lost: what arrives at the sources is only a part",
        fixes=[IN_THREAD],
        intent="say so in the code: gt.stop_gradient(x) in the thread",
    )


def _detached_problem(departure: Record, node: Record, slot: int) -> Problem:
    site, left = exit_expression(departure)
    came = site_at(node.location)
    part = _operand_expression(came, node, slot)
    back = came.span if part is None else came.source.span(part)
    how = exit_words(site, left, departure)
    words = one_line(site.span.text) if isinstance(left, ast.expr) else departure.reason
    if isinstance(left, ast.Subscript):
        words = site.source.text(left)
    inline = (back.file, back.line) == (site.span.file, site.span.line)
    spans = [site.span.labelled("left here" if not inline else "left and came back here")]
    if not inline:
        spans.append(back.labelled("came back here, as a constant"))
    meant = "gt.stop_gradient(x)" if departure.reason in _METHODS else ".item() or gt.stop_gradient(x)"
    return problem(
        "GT210",
        f"{words if len(words) <= 40 else 'a value'} left the tape as {how} and came back as a constant",
        spans=spans,
        consequence="the gradient through it is lost: what arrives at the sources is only a part",
        fixes=fixes_for_departure(site, left, departure),
        intent=f"say so in the code: {meant} instead",
    )

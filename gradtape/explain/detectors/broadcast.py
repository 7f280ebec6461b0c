"""Detector: unintended broadcasts, of a column against a row, or of one prediction against many targets.

`diagnose_broadcast` is given each recorded operation that broadcast its tracked operand. Almost all are decided by
their shapes. The source is read only where the shapes are suspicious, to see
whether the axis of length 1 was written on purpose (`x[:, None]`, `keepdims=True`).
"""

from __future__ import annotations

import ast
import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.explain.detectors.shape_mismatch import shape_table
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.fixes import shape_edits
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Operand, Problem, Span, source_edit
from gradtape.explain.model.record import Computation, Record, Shape
from gradtape.explain.source import dataflow
from gradtape.explain.source.axes import (
    SAME_AXES,
    call_makes_axis,
    is_elementwise,
    is_outer,
    makes_axis,
    stretched_axes,
)
from gradtape.explain.source.expression import UserExpression, is_call_of, is_written, site_at
from gradtape.explain.source.files import one_line
from gradtape.explain.source.libraries import record_of

_DIFFERENCES = ("subtract", "squared_difference")
_COMPARISONS = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
_REDUCTIONS = ("sum", "mean", "max", "min", "norm", "logsumexp", "prod")


class Finding(NamedTuple):
    """The diagnosis of an operation at one place in the code, as far as the operation alone shows it."""

    code: str
    problem: Problem
    waits: bool = False  # to be judged when a gradient is taken
    of_examples: bool = False  # the source shows that the prediction was computed from the data
    is_table: bool = False  # the axes were written, and it is a mistake if all pairs are only summed up


class Residual(NamedTuple):
    """An operation that broadcast a computed tensor against data: judged when a gradient is taken through it."""

    node: weakref.ref[Any]  # of the `Record`
    finding: Finding


def diagnose_broadcast(
    record: Record, inputs: Sequence[Any], shapes: tuple[Shape, Shape], find_site: Callable[[], UserExpression]
) -> Finding | None:
    """The finding for an operation on two values that broadcast a tracked one; None if there is nothing to say.

    `find_site` gives the user's expression; it is called only if the shapes are suspicious.
    """
    if is_outer(*shapes):
        site = find_site()
        residual = record.operation in (*_DIFFERENCES, *_COMPARISONS)
        if not is_written(site, record.operation):
            return None
        if not is_axis_explicit(site, inputs, shapes, residual):
            found = outer_problem(site, inputs)
            if record.operation in _COMPARISONS:
                found = found.with_(consequence="what is counted from it is not one answer for each example")
            is_table = _is_parameter_of_model(inputs)
            return Finding("GT101", found, waits=is_table, is_table=is_table)
        if (residual and _has_kept_axis(inputs)) or (record.operation == "multiply" and _has_weights(inputs)):
            return Finding("GT101", outer_problem(site, inputs), waits=True, is_table=True)
        return None
    tracked = [parent.is_tracked for parent in record.parents]
    if sum(tracked) != 1 or not record.parents[tracked.index(True)].operation:
        return None
    return _diagnose_residual(record, inputs, tracked.index(True), shapes, find_site)


def _diagnose_residual(
    node: Record,
    inputs: Sequence[Any],
    index: int,
    shapes: tuple[Shape, Shape],
    find_site: Callable[[], UserExpression],
) -> Finding | None:
    """The finding, to be judged later, for an operation on a computed operand, at `index`, and data; or None."""
    prediction, target = shapes[index], shapes[1 - index]
    is_row = len(prediction) == 1 and target == prediction * 2
    own, other = stretched_axes(prediction, target), stretched_axes(target, prediction)
    is_residual = node.operation in _DIFFERENCES and bool(own[0])
    if not (is_residual or (is_row and node.operation in (*_DIFFERENCES, "multiply"))):
        return None
    site = find_site()
    if not is_written(site, node.operation):
        return None
    parts = site.parts(inputs)
    if is_row:
        made = dataflow.find_accidental_table(site, parts[1 - index], target)
        words = f"meets {prediction} here"
        return None if made is None else Finding("GT101", outer_problem(*made, [site.span.labelled(words)]), True)
    if is_axis_explicit(site, inputs, shapes):
        return None
    if not any(other):
        size = max(own[0])
        whole = math.prod(prediction) == 1 and dataflow.is_made_of_examples(site, parts[index], parts[1 - index], size)
        return Finding("GT102", one_sided_problem(site, inputs, index, shapes), True, whole)
    if not {*own[0]} & {*other[0]} or any(dataflow.rearranges_axes(site, part) for part in parts):
        return None
    return Finding("GT101", outer_problem(site, inputs), True)


# -- whether it was meant


def is_axis_explicit(
    site: UserExpression, inputs: Sequence[Any], shapes: Sequence[Shape], residual: bool = False
) -> bool:
    """Whether the code that made an operand adds the axis of length 1 that is broadcast here.

    In a residual, a column of data that got its axis elsewhere is no evidence if the other side is a prediction whose
    own axis was removed: `x = grid[:, None]; y = np.sin(x)`, and `model(x).squeeze() - y`.
    """
    parts = site.parts(inputs)
    nodes: list[Any] = [record_of(x) for x in inputs]
    if None not in nodes and nodes[0].is_tracked and _view_base(nodes[0]) is _view_base(nodes[1]):
        return True  # a tensor against itself: all pairs are meant
    of_parameters = all(node is None or not node.is_tracked or not node.operation for node in nodes)
    for index, (node, part, shape) in enumerate(zip(nodes, parts, shapes)):
        if not stretched_axes(shape, shapes[1 - index])[0]:
            continue
        is_data = node is None or not node.is_tracked
        if residual and is_data and isinstance(part, ast.Name) and _is_flattened(nodes[1 - index]):
            continue
        if part is not None and not _is_models_column(node) and makes_axis(site, part, reshapes=of_parameters):
            return True
        if node is not None and _operations_add_axis(node, shape):
            return True
    return False


def _has_kept_axis(inputs: Sequence[Any]) -> bool:
    """Whether both operands are tracked vectors of one number for each example, one of which kept its reduced axis."""
    nodes: list[Any] = [record_of(x) for x in inputs]
    if any(node is None or not node.is_tracked or not node.operation for node in nodes):
        return False
    kept = [node for node in nodes if node.params.get("keepdims") is True and node.operation in _REDUCTIONS]
    return len(kept) == 1 and {len(node.shape) for node in nodes} == {1, 2}


def _is_parameter_of_model(inputs: Sequence[Any]) -> bool:
    """Whether a leaf meets data or another leaf: centres or thresholds of a layer meet every example, say.

    No prediction is computed yet, so that the shapes alone show no mistake.
    """
    nodes: list[Any] = [record_of(x) for x in inputs]
    tracked = [node for node in nodes if node is not None and node.is_tracked]
    return bool(tracked) and not any(node.operation for node in tracked)


def _has_weights(inputs: Sequence[Any]) -> bool:
    """Whether one operand is computed from parameters, and the other is data: weights of the examples, say."""
    nodes: list[Any] = [record_of(x) for x in inputs]
    return len([node for node in nodes if node is not None and node.is_tracked]) == 1


def _is_flattened(node: Any) -> bool:
    """Whether a tracked vector was made of something with more axes, by a shape change, an index or a product."""
    if node is not None and node.reason in ("argmax", "argmin") and len(node.shape) == 1:
        return True  # predicted classes: the axis of the classes is gone
    if node is None or not node.is_tracked or not node.operation or len(node.shape) != 1:
        return False
    changed = node.operation in ("reshape", "getitem") and len(node.parents[0].shape) > 1
    return changed or node.operation == "matmul"


def _view_base(node: Record) -> Record:
    """The tensor that a node is a view of."""
    while node.operation and node.parents and node.operation in ("reshape", "getitem", "transpose"):
        node = node.parents[0]
    return node


def _operations_add_axis(node: Record, shape: Shape) -> bool:
    """Whether the operations that made a tensor, as far back as they are elementwise, added its axis on purpose."""
    for _ in range(16):
        if not node.operation or not node.parents or node.shape.count(1) < shape.count(1):
            return False
        if node.params.get("keepdims") is True:
            return math.prod(shape) > 1  # one number needs no axis to be broadcast
        if node.operation == "getitem" and any(part is None for part in node.params.get("index", ())):
            return True
        if node.operation == "reshape":
            site = site_at(node.location)
            expression = site.node.value if isinstance(site.node, ast.Expr) else site.node
            return isinstance(expression, ast.Call) and call_makes_axis(site, expression, 1, False)
        if node.kind != "elementwise" and node.operation not in SAME_AXES:
            return False
        columns = [parent for parent in node.parents if parent.shape == shape and parent.is_tracked]
        if any(_is_models_column(column) for column in columns):
            return False
        site = site_at(node.location)
        if isinstance(site.node, ast.BinOp | ast.Call | ast.Attribute) and makes_axis(site, site.node, 1):
            return True
        if not columns:
            return False
        node = columns[0]
    return False


def _is_models_column(node: Record | None) -> bool:
    """Whether a column was computed, element by element, from the output of a layer with one unit.

    Then the axis is the model's own: what it met on the way was given one to match.
    """
    for _ in range(16):
        if node is None or not node.is_tracked or len(node.shape) != 2 or node.shape[1] != 1:
            return False
        if node.operation in ("matmul", "linear"):
            return True
        if node.kind != "elementwise" and node.operation not in ("add", "copy"):
            return False
        shape = node.shape
        node = next((parent for parent in node.parents if parent.is_tracked and parent.shape == shape), None)
    return False


# -- what to say


def outer_problem(site: UserExpression, inputs: Sequence[Any], others: Sequence[Span] = ()) -> Problem:
    """Every element of one operand meets every element of the other; `others` are where it meets a vector."""
    operands = site.operands(inputs)
    shapes = [operand.shape or () for operand in operands]
    result = np.broadcast_shapes(*shapes)
    table = _result_table(operands, shapes, result)
    offered = [fix for fix in _matching_edits(site, operands, shapes) if not others or "None" not in fix]
    offered = [*_fixes_at_binding(site, operands, shapes), *offered][: shape_edits.SHOWN_AT_MOST]
    matched = max(math.prod(shape) for shape in shapes)
    count = math.prod(result)
    table["remarks"][str(len(shapes))] = f"{group_digits(count)} elements; {group_digits(matched)} if they are matched"
    first, second = (operand.name for operand in operands)
    return problem(
        "GT101",
        f"every element of {first} {shapes[0]} meets every element of {second} {shapes[1]}",
        spans=[site.span, *others],
        operands=operands,
        table=table,
        consequence="the gradient has the right shape and the wrong value",
        fixes=offered or [f"give both the same shape: {shapes[0]} and {shapes[1]} are stretched to {result}"],
        intent=_intent_text(site, operands, shapes),
    )


def group_digits(number: int) -> str:
    """A number with its digits in groups of three."""
    return f"{number:,}".replace(",", " ")


def _result_table(operands: Sequence[Operand], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
    table, _ = shape_table([operand.name for operand in operands], shapes)
    table["rows"].append(["=", [str(n) for n in result]])
    return table


def _matching_edits(site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape]) -> list[Fix]:
    """Edits after which element meets element; those that take an axis off come first."""
    found = shape_edits.for_elementwise(site, operands, shapes)
    # both branches of where have the axis that the condition lacks: an edit of one would leave the other
    sign = -1 if is_call_of(site, "where") else 1
    return sorted(found, key=lambda fix: sign * fix.count("None"))


def _fixes_at_binding(site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape]) -> list[Fix]:
    """An edit of the line that made a column, so that it is a vector, if a loss uses it several times elementwise.

    An edit of one use would leave the others as they are.
    """
    index = next((i for i, shape in enumerate(shapes) if len(shape) == 2 and shape[1] == 1), None)
    part = None if index is None or operands[index].span is None else site.source.at(_operand_span(operands[index]))
    if index is None or part is None or len(shapes[1 - index]) != 1 or site.node is None:
        return []
    names = [node for node in ast.walk(part) if isinstance(node, ast.Name)]
    columns = [name for name in names if getattr(site.value(name), "shape", None) == shapes[index]]
    if len({name.id for name in columns}) != 1:
        return []
    name, scope = columns[0], next(iter(site.source.scopes(site.node)), None)
    if scope is None:
        return []
    uses = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Load)
    ]
    if len(uses) < 2 or not all(_is_used_by_element(site, use) for use in uses):
        return []
    without = shapes[index][:1]
    if shape_edits.broadcast_shape([without, shapes[1 - index]]) != without:
        return []
    bound = site.binding(name)
    made = None if bound is None or bound.label or bound.file != site.source.file else site.source.at(bound)
    statement = None if made is None else site.source.statement(made)
    is_alone = isinstance(statement, ast.Assign) and all(isinstance(x, ast.Name) for x in statement.targets)
    if bound is None or not is_alone or not isinstance(made, ast.BinOp | ast.Call):
        return _flattened_first(site, name.id, uses)
    text = one_line(bound.text)
    return [Fix(f"{text if isinstance(made, ast.Call) else f'({text})'}[:, 0]", True, bound)]


def _flattened_first(site: UserExpression, name: str, uses: Sequence[ast.Name]) -> list[Fix]:
    """The statement that uses a column first, after one that makes it a vector: where its name is one of several bound
    at once, as in `policy, value = model(x)`.
    """
    statement = None if site.node is None else site.source.statement(site.node)
    if not isinstance(statement, ast.Assign | ast.Expr) or statement.lineno != statement.end_lineno:
        return []
    if any(use.lineno < statement.lineno for use in uses) or site.source.spelled("reshape").startswith("tf."):
        return []
    span = site.source.span(statement)
    return [source_edit(f"{name} = {name}.reshape(-1); {one_line(span.text)}", span)]


def _is_used_by_element(site: UserExpression, use: ast.AST) -> bool:
    """Whether the operations on a name, up to its statement, are elementwise or sums over all elements."""
    node = site.source.parents.get(use)
    while node is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            is_total = name in ("sum", "mean") and not node.keywords and len(node.args) <= 1
            if not is_total and not is_elementwise(name):
                return False
        elif not isinstance(node, ast.BinOp | ast.UnaryOp | ast.Attribute) or isinstance(
            getattr(node, "op", None), ast.MatMult
        ):
            return False
        node = site.source.parents.get(node)
    return True


def _intent_text(site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape]) -> str:
    """The same table of pairs with the missing axes written out."""
    count = max(len(shape) for shape in shapes)
    index = next((i for i, shape in enumerate(shapes) if len(shape) < count), None)
    if index is None:
        return "lay the axes out where they meet: [:, None] on one, [None, :] on the other"
    absent = count - len(shapes[index])
    axes = ", ".join(["None"] * absent + [":"] * (len(shapes[index]) if len(shapes[index]) < 3 else 0))
    node = None if operands[index].span is None else site.source.at(_operand_span(operands[index]))
    parts: list[ast.expr | None] = [None, None]
    parts[index] = node if isinstance(node, ast.expr) else None
    written = site.rewritten({index: f"[{axes}]"}, parts)
    if written is None and node is None:
        return "" if site.node is None else "add the missing axis in the code: None, or np.newaxis"
    return Fix(f"say so in the code: {written or f'{operands[index].name}[{axes}]'}")


def _operand_span(operand: Operand) -> Span:
    assert operand.span is not None
    return operand.span


def one_sided_problem(site: UserExpression, inputs: Sequence[Any], index: int, shapes: Sequence[Shape]) -> Problem:
    """One prediction is compared with many targets."""
    operands = site.operands(inputs)
    prediction, target = operands[index].name, operands[1 - index].name
    shape, wanted = shapes[index], shapes[1 - index]
    result = np.broadcast_shapes(*shapes)
    table = _result_table(operands, shapes, result)
    count = max(len(shape), len(wanted))
    axis = next(i for i in range(-1, -count - 1, -1) if -i <= len(shape) and shape[i] == 1 and result[i] > 1)
    of = f"axis {axis}" if len(shape) > 1 else "its only axis"
    return problem(
        "GT102",
        f"one element of {prediction} {shape} is compared with {result[axis]} of {target} {wanted}",
        spans=[site.span],
        operands=operands,
        table=table,
        consequence=f"the gradient pulls {prediction} towards the mean of the {result[axis]}, not towards each of them",
        fixes=[
            f"make {prediction} {result[axis]} long along {of}, as {target} is: look at the shape of what made it "
            f"(the last layer's outputs, an axis reduced or sliced away)",
        ],
        intent=f"say so in the code: {site.source.spelled('broadcast_to')}({prediction}, {result})",
    )


# -- when a gradient is taken


_SIZES = {"power", "square", "absolute", "sqrt", "log", "log1p", "log_cosh", "huber", "length", "root_mean_square"}
_TERMS = {"multiply", "divide", "negative", "positive", "add", "subtract", "where", "maximum", "minimum", "logaddexp"}
_TOTALS = {"sum", "mean", "l2_loss", "average", "dot", "vdot", "matmul", "einsum", "copy", "reshape"}
_COMPARING = frozenset(_SIZES | _TERMS | _TOTALS)
_SCALINGS = ("multiply", "divide", "negative", "add", "subtract", "copy", "astype")


def judge_residual(suspect: Residual, computation: Computation) -> bool:
    """Warn of a residual if its prediction was computed from the data and all of it goes into the target."""
    node = suspect.node()
    if suspect.finding.is_table:
        return _judge_table(suspect.finding, node, computation)
    is_reached = node is not None and node in computation.consumers
    if node is None or not is_reached or all(math.prod(target.shape) != 1 for target in computation.targets):
        return False
    of_examples = suspect.finding.of_examples or _depends_on(_prediction(node), node.shape)
    if not node.shape or not of_examples:
        return False
    if not _is_compared(node, computation):
        return False
    if is_due(suspect.finding.code, *suspect.finding.problem.place[1:]):
        report(suspect.finding.problem)
    return True


def _judge_table(finding: Finding, node: Record | None, computation: Computation) -> bool:
    """Warn of a table of all pairs that is only summed up: a sum of products is then a product of two sums.

    One whose elements meet another table, a mask or a kernel, or that is summed along one axis, is meant.
    """
    if node is None or node not in computation.consumers or node.operation not in (*_DIFFERENCES, "multiply"):
        return False
    keeps = _SCALINGS if node.operation == "multiply" else (*_SCALINGS, *_SIZES, "maximum", "relu", "softplus", "clip")
    pending, seen, totals = [node], {node}, 0
    while pending:
        consumers = computation.consumers.get(pending.pop(), [])
        for consumer in consumers:
            axes = consumer.params.get("axis")
            if consumer.operation in ("sum", "mean") and (axes is None or len(axes) == len(node.shape)):
                totals += 1
            elif consumer.shape == node.shape and (
                (consumer.operation in keeps and _has_one_table(consumer))
                or (node.operation == "multiply" and _adds_products(consumer))
            ):
                if consumer not in seen:
                    seen.add(consumer)
                    pending.append(consumer)
            else:
                return False
        if not consumers:
            return False
    if totals and is_due(finding.code, *finding.problem.place[1:]):
        report(finding.problem)
    return totals > 0


def _adds_products(record: Record) -> bool:
    """Whether tables are added each of which is a product of a column and a vector, element by element."""
    if record.operation not in ("add", "subtract"):
        return False
    for parent in record.parents:
        shapes = [operand.shape for operand in parent.operands if operand.shape is not None]
        if parent.operation != "multiply" or len(shapes) != 2 or not is_outer(shapes[0], shapes[1]):
            return False
    return True


def _has_one_table(record: Record) -> bool:
    """Whether all operands but one are numbers."""
    return sum(operand.shape is None or math.prod(operand.shape) > 1 for operand in record.operands) <= 1


def _prediction(residual: Record) -> Record:
    """The operand of a residual that is the computed tensor."""
    return residual.parents[0] if residual.parents[0].is_tracked else residual.parents[1]


def _depends_on(node: Record, examples: Shape) -> bool:
    """Whether a prediction was computed from data with one of the lengths of the targets, not from parameters only.

    A layer may have joined the first axes of its data: (20, 10, 3) is (200, 3) there.
    """
    lengths = {n for n in examples if n > 1}
    lengths |= {joined for count in range(2, len(examples)) if (joined := math.prod(examples[:count])) > 1}
    return any(lengths & {*shape} for shape in _data_shapes(node))


def _data_shapes(start: Record) -> Iterator[Shape]:
    """The shapes of the untracked arrays that went into a node, as far as they were saved."""
    pending, seen = [start], {start}
    while pending:
        node = pending.pop()
        for parent, operand in zip(node.parents, node.operands):
            if operand.is_tracked:
                if parent not in seen:
                    seen.add(parent)
                    pending.append(parent)
            elif operand.shape and math.prod(operand.shape) > 1:
                yield operand.shape


def _is_compared(start: Record, computation: Computation) -> bool:
    """Whether a difference goes into a target by what a loss is made of: powers, absolute values, weights and sums."""
    pending, seen = [start], {start}
    while pending:
        node = pending.pop()
        if node in computation.targets:
            return True
        for consumer in computation.consumers.get(node, ()):
            if consumer not in seen and consumer.operation in _COMPARING:
                seen.add(consumer)
                pending.append(consumer)
    return False

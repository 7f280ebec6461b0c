"""Edits of operands with which shapes fit, tried on shapes alone; only those that work are offered.

No array is computed: an edit maps a shape to a shape, and a rule (`ShapeRule`) gives the shape of the result or None.
The fix is the user's expression with the edit written into it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from gradtape.explain.fixes.known_shapes import added_shapes
from gradtape.explain.model.problem import Fix, Operand, Span
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.expression import UserExpression, replace_span
from gradtape.explain.source.files import one_line, source_of

Shape = tuple[int, ...]
ShapeRule = Callable[[Sequence[Shape]], Shape | None]
SHARED_COST = 100  # of an edit that changes other uses of a value as well
SHOWN_AT_MOST = 2
_REDUCTIONS = "sum mean max min prod std var any all median amax amin nansum nanmean logsumexp norm"
REDUCTIONS = frozenset(_REDUCTIONS.split())


@dataclass(frozen=True)
class Edit:
    """A change of one operand: the suffix to write after it, its new shape, and the cost, by which fixes are ranked."""

    suffix: str
    shape: Shape
    cost: int


def candidate_edits(shape: Shape) -> list[Edit]:
    """The edits of an array of `shape` that are tried: transpose it, add or drop an axis of length 1."""
    ndim = len(shape)
    without = [axis for axis in range(ndim) if shape[axis] == 1]
    found = [Edit(_index_suffix(axis, ndim), shape[:axis] + shape[axis + 1 :], 1) for axis in without]
    found += [Edit(_new_axis_suffix(axis, ndim), (*shape[:axis], 1, *shape[axis:]), 1) for axis in range(1, ndim + 1)]
    if ndim == 2:
        found.append(Edit(".T", shape[::-1], 2))
    elif ndim > 2:
        found.append(Edit(".swapaxes(-1, -2)", (*shape[:-2], shape[-1], shape[-2]), 2))
    if ndim > 1 and shape.count(1) > 1:
        found.append(Edit(".squeeze()", tuple(n for n in shape if n != 1), 2))
    return found


def _index_suffix(axis: int, ndim: int) -> str:
    if axis == ndim - 1 and ndim > 2:
        return "[..., 0]"
    return f"[{', '.join([':'] * axis + ['0'])}]"


def _new_axis_suffix(axis: int, ndim: int) -> str:
    if axis == ndim and ndim > 1:
        return "[..., None]"
    return f"[{', '.join([':'] * axis + ['None'])}]"


# -- which shapes fit


def broadcast_shape(shapes: Sequence[Shape]) -> Shape | None:
    """The common shape, or None."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def matmul_shape(shapes: Sequence[Shape]) -> Shape | None:
    """The shape of `a @ b`, or None."""
    a, b = shapes
    if not a or not b:
        return None
    left, right = (a if len(a) > 1 else (1, *a)), (b if len(b) > 1 else (*b, 1))
    if left[-1] != right[-2]:
        return None
    batch = broadcast_shape([left[:-2], right[:-2]])
    if batch is None:
        return None
    rows = (left[-2],) if len(a) > 1 else ()
    columns = (right[-1],) if len(b) > 1 else ()
    return batch + rows + columns


def concatenate_shape(axis: int) -> ShapeRule:
    """The rule for the shape of `concatenate` along `axis`."""

    def fits(shapes: Sequence[Shape]) -> Shape | None:
        first = shapes[0]
        if any(len(shape) != len(first) for shape in shapes) or not -len(first) <= axis < len(first):
            return None
        place = axis % len(first)
        rest = {shape[:place] + shape[place + 1 :] for shape in shapes}
        if len(rest) != 1:
            return None
        return (*first[:place], sum(shape[place] for shape in shapes), *first[place + 1 :])

    return fits


def stack_shape(shapes: Sequence[Shape]) -> Shape | None:
    """The shape of `stack`: all must be equal."""
    return (len(shapes), *shapes[0]) if len(set(shapes)) == 1 else None


# -- what to write


def for_elementwise(site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape]) -> list[Fix]:
    """Edits of one operand after which the shapes broadcast, to a result that is not larger than the operands."""
    parts = [_operand_node(site, operand) for operand in operands]
    most = max(math.prod(shape) for shape in shapes)
    largest = [shape for shape in shapes if math.prod(shape) == most]
    ranked: list[tuple[tuple[int, ...], Fix]] = []
    main = site.span
    for index, shape in enumerate(shapes):
        others = [other for i, other in enumerate(shapes) if i != index]
        for edit in candidate_edits(shape) + _reshape_to_other(shape, others, operands, index):
            result = broadcast_shape([*shapes[:index], edit.shape, *shapes[index + 1 :]])
            if result is None or math.prod(result) > max(math.prod(largest[0]), 1):
                continue
            text = site.rewritten({index: edit.suffix}, parts)
            if text is not None:
                rank = (int(result not in largest), edit.cost, -index)
                ranked.append((rank, Fix(text, True, main)))
        ranked += _keepdims_edits(site, operands, shapes, index, largest)
    return _best_fixes(ranked or _trim_edits(site, parts, shapes))


def _trim_edits(
    site: UserExpression, parts: Sequence[ast.expr | None], shapes: Sequence[Shape]
) -> list[tuple[tuple[int, ...], Fix]]:
    """Slices that drop the first or last elements of an operand that is one or two elements longer than the other."""
    arrays = [(index, shape) for index, shape in enumerate(shapes) if shape]
    if len(arrays) != 2 or len(arrays[0][1]) != len(arrays[1][1]):
        return []
    (_, one), (long, other) = sorted(arrays, key=lambda row: row[1])
    differ = [axis for axis, (n, m) in enumerate(zip(one, other)) if n != m]
    if len(differ) != 1:
        return []
    axis, surplus = differ[0], other[differ[0]] - one[differ[0]]
    if surplus > 2 or 4 * surplus > one[axis]:  # of short arrays the difference may be no accident
        return []
    lead = ":, " * axis
    if broadcast_shape([one, (*other[:axis], other[axis] - surplus, *other[axis + 1 :])]) != one:
        return []
    found: list[tuple[tuple[int, ...], Fix]] = []
    for rank, cut in enumerate((f"{surplus}:", f":-{surplus}")):
        text = site.rewritten({long: f"[{lead}{cut}]"}, parts)
        if text is not None:
            found.append(((0, rank, 0), Fix(text, True, site.span)))
    return found


def for_value(site: UserExpression, part: ast.expr | None, given: Shape, wanted: Shape) -> list[Fix]:
    """Edits after which an argument has exactly the shape `wanted`."""
    if part is None:
        return []
    fitting = [edit for edit in candidate_edits(given) if edit.shape == wanted]
    texts = [site.rewritten({0: edit.suffix}, [part]) for edit in fitting]
    return [Fix(text, True, site.span) for text in texts if text is not None][:SHOWN_AT_MOST]


def _reshape_to_other(shape: Shape, others: Sequence[Shape], operands: Sequence[Operand], index: int) -> list[Edit]:
    found = []
    names = [operand.name for i, operand in enumerate(operands) if i != index]
    for other, name in zip(others, names):
        if other != shape and math.prod(other) == math.prod(shape) and len(other) > len(shape) and name.isidentifier():
            found.append(Edit(f".reshape({name}.shape)", other, 3))
    return found


def _keepdims_edits(
    site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape], index: int, largest: Sequence[Shape]
) -> list[tuple[tuple[int, ...], Fix]]:
    """`keepdims=True` in the reduction that made an operand, if the shapes fit then."""
    operand = operands[index]
    for span, inline in ((operand.span, True), (operand.origin, False)):
        kept = None if span is None else with_keepdims(span, shapes[index])
        if span is None or kept is None:
            continue
        text, shape = kept
        result = broadcast_shape([*shapes[:index], shape, *shapes[index + 1 :]])
        if result is None or math.prod(result) > max(math.prod(largest[0]), 1):
            continue
        if not inline:
            cost = SHARED_COST if _has_other_uses(span) else 0
            return [((int(result not in largest), cost, -index), Fix(text, True, span))]
        whole = site.span
        written = replace_span(whole, span, text)
        return [] if written is None else [((int(result not in largest), 0, -index), Fix(written, True, whole))]
    return []


def _has_other_uses(made: Span) -> bool:
    """Whether the name that an expression is bound to is read more than once: an edit changes the other uses, too."""
    source = source_of(made.file)
    node = source.at(made)
    statement = None if node is None else source.statement(node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    loads = [
        part
        for part in ast.walk(source.tree or ast.Module([], []))
        if isinstance(part, ast.Name) and part.id in names and isinstance(part.ctx, ast.Load)
    ]
    return len(loads) > 1


def with_keepdims(span: Span, shape: Shape) -> tuple[str, Shape] | None:
    """A reduction's source with `keepdims=True`, and the shape it then has; None if `span` is no such call."""
    source = source_of(span.file)
    call = source.at(span)
    if not isinstance(call, ast.Call) or any(k.arg in (None, "keepdims", "keepdim") for k in call.keywords):
        return None
    method = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if method.removeprefix("reduce_") not in REDUCTIONS:
        return None
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_function = owner is None or (isinstance(owner, ast.Name) and source.is_array_module(owner.id))
    positional = call.args[1:] if is_function else call.args
    given = next((k.value for k in call.keywords if k.arg in ("axis", "dim")), positional[0] if positional else None)
    if given is None:
        return None
    try:
        axis = ast.literal_eval(given)
    except ValueError:
        return None
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = len(shape) + len(axes)
    if not all(isinstance(a, int) and -ndim <= a < ndim for a in axes):
        return None
    places = {a % ndim for a in axes}
    lengths = iter(shape)
    kept = tuple(1 if i in places else next(lengths) for i in range(ndim))
    keeping = "keepdim=True" if library_of(source.imports)[0] == "torch" else "keepdims=True"
    return add_argument(source.text(call), keeping), kept


def for_product(site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape]) -> list[Fix]:
    """Transpositions of the operands, or the other order, with which the matrix product exists."""
    parts = [_operand_node(site, operand) for operand in operands]
    main = site.span
    ranked: list[tuple[tuple[int, ...], Fix]] = []
    options = [
        [Edit("", shape, 0), *(e for e in candidate_edits(shape) if e.suffix in (".T", ".swapaxes(-1, -2)"))]
        for shape in shapes
    ]
    terms = added_shapes(site)
    for swap in (False, True):
        for left, right in product(*options):
            order = [right, left] if swap else [left, right]
            result = matmul_shape([order[0].shape, order[1].shape])
            if result is None or any(broadcast_shape([result, term]) is None for term in terms):
                continue
            suffixes = {i: edit.suffix for i, edit in enumerate(order) if edit.suffix}
            if swap and suffixes:
                continue
            text = site.rewritten(suffixes, parts, swap)
            if text is not None:
                ranked.append(((0, left.cost + right.cost + 3 * swap, 0), Fix(text, True, main)))
    return _best_fixes(ranked)


def for_joining(
    site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape], axis: int, stacks: bool
) -> list[Fix]:
    """An edit of one operand, or another axis, with which the arrays can be joined."""
    parts = [_operand_node(site, operand) for operand in operands]
    main = site.span
    fits = stack_shape if stacks else concatenate_shape(axis)
    ranked: list[tuple[tuple[int, ...], Fix]] = []
    for index, shape in enumerate(shapes):
        new_first = [Edit("[None]", (1, *shape), 1)] if shape else []
        for edit in new_first + candidate_edits(shape):
            if fits([*shapes[:index], edit.shape, *shapes[index + 1 :]]) is not None:
                text = site.rewritten({index: edit.suffix}, parts)
                if text is not None:
                    ranked.append(((1, edit.cost, -index), Fix(text, True, main)))
    for other in range(max(len(shape) for shape in shapes)) if not stacks else ():
        if other != axis and concatenate_shape(other)(shapes) is not None:
            text = with_axis(site, other)
            if text is not None:
                ranked.append(((0, other, 0), Fix(text, True, main)))
        elif other != axis and not ranked:
            ranked += _edit_with_axis(site, parts, shapes, other)
    return _best_fixes(ranked)


def _edit_with_axis(
    site: UserExpression, parts: Sequence[ast.expr | None], shapes: Sequence[Shape], axis: int
) -> list[tuple[tuple[int, ...], Fix]]:
    """An edit of one operand together with another axis, for a call that does not name the axis."""
    call = site.node
    if not isinstance(call, ast.Call) or call.keywords or len(call.args) != 1:
        return []
    found: list[tuple[tuple[int, ...], Fix]] = []
    for index, shape in enumerate(shapes):
        for edit in candidate_edits(shape):
            if concatenate_shape(axis)([*shapes[:index], edit.shape, *shapes[index + 1 :]]) is not None:
                text = site.rewritten({index: edit.suffix}, parts)
                if text is not None:
                    fix = Fix(add_argument(text, f"axis={axis}"), True, site.span)
                    found.append(((2, edit.cost, -index), fix))
    return found


def with_axis(site: UserExpression, axis: int) -> str | None:
    """The call with another `axis=`."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call):
        return None
    whole = site.source.span(call)
    for keyword in call.keywords:
        if keyword.arg in ("axis", "dim"):
            return replace_span(whole, site.source.span(keyword.value), str(axis))
    if len(call.args) == 2 and isinstance(call.args[1], ast.Constant):
        return replace_span(whole, site.source.span(call.args[1]), str(axis))
    name = "dim" if library_of(site.source.imports)[0] == "torch" else "axis"
    if not call.args and not call.keywords and isinstance(call.func, ast.Attribute):
        return f"{one_line(site.source.text(call.func))}({name}={axis})"  # e.sum()
    return add_argument(whole.text, f"{name}={axis}") if len(call.args) == 1 else None


def stack_for_concatenate(site: UserExpression) -> list[Fix]:
    """`stack` for a `concatenate` along an axis that is not there yet, if all arrays have one shape."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call) or not call.args or not isinstance(call.func, ast.Attribute):
        return []
    if call.func.attr not in ("concatenate", "concat", "cat"):
        return []
    given = site.value(call.args[0])
    parts = (
        given if isinstance(given, list | tuple) else [site.value(part) for part in getattr(call.args[0], "elts", [])]
    )
    shapes = [getattr(part, "shape", None) for part in parts]
    if not shapes or None in shapes or stack_shape([tuple(shape) for shape in shapes if shape is not None]) is None:
        return []
    whole = site.source.span(call)
    owner = site.source.text(call.func.value)
    text = replace_span(whole, site.source.span(call.func), f"{owner}.stack")
    return [] if text is None else [Fix(text, True, whole)]


def for_reshape(site: UserExpression, size: int, wanted: Shape, shape: Shape = ()) -> list[Fix]:
    """The new shape with -1 for one length, where the number of elements is divisible by the others.

    Where the number of examples is what differs from `shape`, the shape that the array has, -1 stands for it.
    """
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call):
        return []
    lengths: list[ast.expr] = []
    for argument in call.args:
        if isinstance(argument, ast.Tuple | ast.List):
            lengths = list(argument.elts)
            break
    else:
        lengths = list(call.args)[-len(wanted) :]
    if len(lengths) != len(wanted):
        return []
    whole = site.source.span(call)
    fixes = []
    for index, node in enumerate(lengths):
        others = math.prod(wanted[:index] + wanted[index + 1 :])
        if size and others > 0 and size % others == 0:
            text = replace_span(whole, site.source.span(node), "-1")
            if text is not None:
                fixes.append(Fix(text, True, whole))
    examples = len(wanted) > 1 and len(shape) > 1 and math.prod(wanted[1:]) == math.prod(shape[1:])
    return (fixes if examples else fixes[::-1])[:SHOWN_AT_MOST]


def add_argument(call: str, argument: str) -> str:
    """The text of a call with one more argument."""
    return f"{one_line(call)[:-1].rstrip().rstrip(',')}, {argument})"


def _operand_node(site: UserExpression, operand: Operand) -> ast.expr | None:
    """The syntax node of an operand in the expression."""
    node = None if operand.span is None else site.source.at(operand.span)
    return node if isinstance(node, ast.expr) else None


def _best_fixes(ranked: list[tuple[tuple[int, ...], Fix]]) -> list[Fix]:
    """The fixes of the best rank, without duplicates, at most `SHOWN_AT_MOST`."""
    ordered = sorted(ranked, key=lambda row: row[0])
    best = [fix for rank, fix in ordered if rank[0] == ordered[0][0][0]]
    return list(dict.fromkeys(best))[:SHOWN_AT_MOST]

"""Detector: shapes that do not fit in an operation. Shows which axes differ, where the operands are from, and fixes."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.errors import GradTapeError
from gradtape.explain.fixes import shape_edits
from gradtape.explain.fixes.index_edits import index_second_axis
from gradtape.explain.messages import code_for, problem
from gradtape.explain.model.problem import Fix, Operand, Problem
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.expression import UserExpression, is_call_of, replace_span, shape_and_dtype
from gradtape.explain.source.files import one_line
from gradtape.explain.source.libraries import record_of

Shape = tuple[int, ...]
_PRODUCTS = frozenset({"matmul", "dot", "inner", "vdot", "vecdot", "tensordot", "solve"})
_MISSING = ". = missing axis, read as 1"
_ADVICE = {
    "Singular matrix": "np.linalg.lstsq or np.linalg.pinv; or a little of the identity added: a + 1e-6 * np.eye(n)",
    "not positive definite": "a symmetric matrix with positive eigenvalues: a @ a.T + 1e-6 * np.eye(n)",
    "one unknown dimension": "-1 once: the other lengths have to be given",
    "did not converge": "look for NaN and infinities in the matrix",
    "at least two-dimensional": "a matrix, or a stack of them; np.diag(x) has a vector on its diagonal",
    "number of FFT data points": "n of 1 or more, and no axis of length 0",
}


def explain_numpy_error(
    error: Exception,
    name: str,
    kind: str,
    inputs: Sequence[Any],
    params: dict[str, Any],
    ours: type[GradTapeError],
    examples: int = 0,
) -> tuple[GradTapeError, bool]:
    """NumPy's `error` as an error of gradtape, and whether NumPy's own traceback adds information to it.

    `examples` is not zero inside vmap: the inputs then have the shapes of one of so many examples.
    """
    site = UserExpression.present()
    operands = site.operands(inputs)
    shapes = [shape for operand in operands if (shape := operand.shape) is not None]
    words = str(error)
    found: Problem | None = None
    if isinstance(error, np.exceptions.AxisError):
        axis = params.get("axis", params.get("axes"))
        found = axis_problem(axis, len(shapes[0]) if shapes else 0, shapes[0] if shapes else None)
    elif isinstance(error, IndexError):
        found = index_problem(site, operands, words)
    elif any(isinstance(x, np.ndarray) and x.dtype.kind in "US" for x in inputs):
        found = _text_problem(site, operands, inputs, name)
    elif len(shapes) == len(inputs):
        found = find_shape_problem(site, operands, shapes, name, kind, params, words)
    if found is not None:
        return ours(_with_vmap_note(found.with_(details={**found.details, "numpy": words}), examples)), False
    code = code_for(ours, f"{name}: {words}")
    title = words if words.startswith(f"{name}:") or words.startswith(f"{name}(") else f"{name}: {words}"
    advice = next((fix for pattern, fix in _ADVICE.items() if pattern in words), "")
    made = problem(
        code, title.rstrip("."), spans=[site.span], operands=operands, fixes=[advice] if advice else [], numpy=words
    )
    return ours(_with_vmap_note(made, examples)), ours.__name__ == "OperandError"


def find_shape_problem(
    site: UserExpression,
    operands: Sequence[Operand],
    shapes: Sequence[Shape],
    name: str,
    kind: str,
    params: Mapping[str, Any],
    words: str = "",
) -> Problem | None:
    """The problem for operands of an operation whose shapes do not fit; None if they are not what is wrong.

    `words` are those of the library that refused them.
    """
    if name == "concatenate" or name == "stack":
        return _join_problem(site, operands, shapes, name, int(params.get("axis") or 0))
    elif name == "reshape" and "shape" in params and ("reshape" in words or not words):
        return _reshape_problem(site, operands, shapes[0], tuple(params["shape"]))
    elif name == "einsum":
        return _einsum_problem(site, operands, shapes, str(params.get("subscripts", "")))
    elif name in _PRODUCTS and len(shapes) == 2:
        return _product_problem(site, operands, shapes, name)
    elif "index" in params and len(shapes) == 2:
        return _write_problem(site, operands, shapes, params["index"])
    elif name == "broadcast_to" and "shape" in params:
        return _broadcast_to_problem(site, operands, shapes[0], tuple(params["shape"]))
    elif shape_edits.broadcast_shape(shapes) is None and (kind in ("elementwise", "constant") or "broadcast" in words):
        return _elementwise_problem(site, operands, shapes)
    elif "square" in words:
        return _not_square_problem(site, operands, shapes[0], name)
    return None


def _with_vmap_note(found: Problem, examples: int) -> Problem:
    """The problem, inside vmap with a note that the shapes are those of one example."""
    if not examples:
        return found
    note = f"inside vmap, over {examples} examples: these are the shapes of one of them"
    return found.with_(details={**found.details, "notes": [*found.details.get("notes", ()), note]})


def _text_problem(site: UserExpression, operands: Sequence[Operand], inputs: Sequence[Any], name: str) -> Problem:
    """The problem for arrays of text where numbers are needed, such as an unconverted column of a file."""
    index = next(i for i, x in enumerate(inputs) if isinstance(x, np.ndarray) and x.dtype.kind in "US")
    text = site.rewritten({index: ".astype(float)"}, site.parts(inputs))
    try:
        np.asarray(inputs[index]).astype(float)
    except ValueError:
        text = None
    advice = "numbers: array.astype(float), where the texts are those of numbers"
    return problem(
        "GT314",
        f"{name}: {operands[index].name} holds texts (dtype {operands[index].dtype}), not numbers",
        spans=[site.span],
        operands=operands,
        fixes=[advice] if text is None else [Fix(text, True, site.span)],
    )


# -- elementwise


def _elementwise_problem(site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape]) -> Problem:
    arrays = [(operand, shape) for operand, shape in zip(operands, shapes) if shape]
    offered = shape_edits.for_elementwise(site, operands, shapes) or index_second_axis(site)
    listed = " and ".join(str(shape) for _, shape in arrays)
    table, differing = shape_table([operand.name for operand, _ in arrays], [shape for _, shape in arrays])
    advice = [] if offered else [_equal_lengths_advice(arrays, differing)]
    return problem(
        "GT110",
        f"these shapes do not fit: {listed}",
        spans=[site.span],
        operands=operands,
        table=table,
        fixes=[*offered, *advice],
    )


def shape_table(names: Sequence[str], shapes: Sequence[Shape]) -> tuple[dict[str, Any], list[int]]:
    """The shapes aligned at the last axis, the axes that clash marked; and those axes, counted from the end."""
    count = max(len(shape) for shape in shapes)
    rows = [(name, ["."] * (count - len(shape)) + [str(n) for n in shape]) for name, shape in zip(names, shapes)]
    padded = [(1,) * (count - len(shape)) + shape for shape in shapes]
    differing = [i - count for i in range(count) if len({shape[i] for shape in padded} - {1}) > 1]
    first_missing = next((i for i, shape in enumerate(shapes) if len(shape) < count), None)
    lengths = [" and ".join(str(n) for n in dict.fromkeys(shape[i] for shape in padded) if n != 1) for i in differing]
    table = {
        "rows": [list(row) for row in rows],
        "marked": differing,
        "remark": f"{'; '.join(lengths)}: {'these differ' if lengths else ''}" if lengths else "",
        "remarks": {} if first_missing is None else {str(first_missing): _MISSING},
    }
    return table, differing


def _equal_lengths_advice(arrays: Sequence[tuple[Operand, Shape]], differing: Sequence[int]) -> str:
    parts = []
    for axis in differing[:1]:
        parts = [f"{o.name} has {s[axis]}" for o, s in arrays if len(s) >= -axis and s[axis] != 1]
    where = f"axis {differing[0]}" if differing else "every axis"
    return f"make the lengths along {where} equal, or one of them 1: {', '.join(parts)}"


# -- products


def _product_problem(
    site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape], name: str
) -> Problem | None:
    left, right = shapes
    if name in ("matmul", "dot") and shape_edits.matmul_shape(shapes) is not None:
        return None
    offered = shape_edits.for_product(site, operands, shapes) if name in ("matmul", "dot") else []
    offered = offered or index_second_axis(site)
    if not left or not right:
        scalar = operands[0 if not left else 1].name
        node = site.node
        if isinstance(node, ast.BinOp) and site.span.line == site.span.end_line:
            texts = [site.source.text(part) for part in (node.left, node.right)]
            middle = site.span.text[len(texts[0]) : len(site.span.text) - len(texts[1])]
            is_product = site.span.text == texts[0] + middle + texts[1] and middle.strip() == "@"
            if is_product and shape_edits.broadcast_shape(shapes) is not None:
                offered = [Fix(f"{texts[0]} * {texts[1]}", True, site.span)]
        return problem(
            "GT111",
            f"{name} of shapes {left} and {right}: a number is no matrix",
            spans=[site.span],
            operands=operands,
            fixes=[*offered, f"a product with a number is written with *: {scalar} has shape ()"],
        )
    inner = -1 if len(right) == 1 or name in ("inner", "vecdot") else -2
    if name == "solve":
        return _solve_problem(site, operands, shapes)
    a, b = left[-1], right[inner]
    rows = [[operands[0].name, _mark_axis(left, -1)], [operands[1].name, _mark_axis(right, inner)]]
    if a == b:
        title = f"the stacks of matrices do not fit: {left} and {right}"
        rows = [[operands[0].name, [str(n) for n in left]], [operands[1].name, [str(n) for n in right]]]
        remarks = {"1": "the axes before the last two must broadcast"}
    else:
        title = f"these shapes do not fit in a product: {left} and {right}"
        end = {-1: "last axis", -2: "last axis but one"}
        remarks = {"0": f"its last axis has {a}", "1": f"its {end[inner]} has {b}; they must be equal"}
    return problem(
        "GT111",
        title,
        spans=[site.span],
        operands=operands,
        table={"rows": rows, "remarks": remarks},
        fixes=offered
        or [
            f"make them equal: {operands[0].name} has {a} {'columns' if len(left) > 1 else 'elements'}, "
            f"{operands[1].name} has {b} {'rows' if inner == -2 else 'elements'}"
        ],
    )


def _solve_problem(site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape]) -> Problem | None:
    a, b = shapes
    if len(a) < 2 or a[-1] != a[-2]:
        return _not_square_problem(site, operands, a, "solve")
    length = b[-2] if len(b) > 1 else b[-1]
    if length == a[-1]:
        return None  # the shapes are not what is wrong
    return problem(
        "GT111",
        f"solve: {a[-1]} equations in {operands[0].name}, and a right-hand side of length {length}",
        spans=[site.span],
        operands=operands,
        fixes=f"a right-hand side of shape ({a[-1]},) or ({a[-1]}, k)",
    )


def _not_square_problem(site: UserExpression, operands: Sequence[Operand], shape: Shape, name: str) -> Problem:
    where = "np.linalg.lstsq(a, b) for more equations than unknowns" if name == "solve" else ""
    return problem(
        "GT111",
        f"{name}: a matrix of shape {shape} is not square",
        spans=[site.span],
        operands=operands,
        fixes=where or "np.linalg.pinv, svd and qr take matrices that are not square; a.T @ a is square",
    )


def _write_problem(
    site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape], index: Any
) -> Problem | None:
    """The problem for a value that does not fit into the part of the array that it is written to."""
    shape, given = shapes
    try:
        place = np.broadcast_to(np.empty(()), shape)[index].shape
    except IndexError:
        return None
    where = one_line(site.span.text) if isinstance(site.node, ast.Subscript) else "the place"
    offered = [f"give a value of shape {place}"]
    if math.prod(place) == math.prod(given):
        offered.insert(0, f"{operands[1].name}.reshape{place}")
    return problem(
        "GT110",
        f"a value of shape {given} does not fit into {where}, which has shape {place}",
        spans=[site.span],
        operands=operands,
        fixes=offered,
    )


def _broadcast_to_problem(site: UserExpression, operands: Sequence[Operand], shape: Shape, wanted: Shape) -> Problem:
    table, _ = shape_table([operands[0].name, "wanted"], [shape, wanted])
    return problem(
        "GT110",
        f"{operands[0].name} cannot be broadcast from {shape} to {wanted}: only axes of length 1 are stretched",
        spans=[site.span],
        operands=operands,
        table=table,
        fixes="add the axes that are missing with None: x[:, None]",
    )


def _mark_axis(shape: Shape, axis: int) -> list[str]:
    """The lengths as text, with that of `axis` in brackets."""
    return [f"[{n}]" if i == axis % len(shape) else str(n) for i, n in enumerate(shape)]


def _einsum_problem(
    site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape], subscripts: str
) -> Problem | None:
    """The problem for an einsum letter that stands for two lengths."""
    terms = subscripts.partition("->")[0].split(",")
    lengths: dict[str, tuple[int, int]] = {}
    for index, (term, shape) in enumerate(zip(terms, shapes)):
        for letter, length in zip(term, shape):
            first, other = lengths.setdefault(letter, (length, index))
            if length == 1 or first == length:
                continue
            if first == 1:
                lengths[letter] = (length, index)
                continue
            names = [operands[i].name for i in (other, index)]
            rows = [
                [f"{o.name} {t}", _mark_axis(s, t.index(letter)) if letter in t else [str(n) for n in s]]
                for o, t, s in zip(operands, terms, shapes)
            ]
            return problem(
                "GT112",
                f"einsum: {letter!r} is {first} long in {names[0]} and {length} in {names[1]}",
                spans=[site.span],
                operands=operands,
                table={"rows": rows},
                fixes=_einsum_advice(letter, subscripts, [(names[0], first), (names[1], length)]),
            )
    return None


def _einsum_advice(letter: str, subscripts: str, lengths: Sequence[tuple[str, int]]) -> str:
    """Advice for a letter with two lengths. One that is summed over cannot be renamed: its lengths must be equal."""
    if letter in subscripts.partition("->")[2]:
        return "one letter, one length: give one of the axes another letter, or change their order"
    have = " and ".join(f"{name} has {length}" for name, length in lengths)
    return f"make the axes that are summed over ({letter!r}) equally long: {have}; or change the order of the letters"


# -- joining, reshaping, indexing, axes


def _join_problem(
    site: UserExpression, operands: Sequence[Operand], shapes: Sequence[Shape], name: str, axis: int
) -> Problem | None:
    stacks = name == "stack"
    listed = ", ".join(str(shape) for shape in shapes[:6]) + (", ..." if len(shapes) > 6 else "")
    ranks = {len(shape) for shape in shapes}
    odd = next((i for i, shape in enumerate(shapes) if len(shape) != len(shapes[0])), None)
    table: dict[str, Any] = {"rows": [[o.name, [str(n) for n in s]] for o, s in zip(operands, shapes) if s]}
    place = axis % max(len(shapes[0]), 1)
    if stacks:
        note = "stack wants arrays of one shape"
    elif len(ranks) > 1:
        counts = [f"{o.name} has {len(s)} ax{'is' if len(s) == 1 else 'es'}" for o, s in zip(operands, shapes)]
        note = f"{counts[odd or 0]}, {counts[0]}"
    else:
        differing = [i for i in range(len(shapes[0])) if i != place and len({shape[i] for shape in shapes}) > 1]
        table["marked"] = [i - len(shapes[0]) for i in differing]
        table["remark"] = "differ, and are not the axis that is joined"
        note = f"along axis={axis}, all lengths but those of that axis must be equal"
    offered = shape_edits.for_joining(site, operands, shapes, axis, stacks)
    if stacks and not offered and shape_edits.concatenate_shape(0)(shapes) is not None:
        offered = [
            Fix(_padding_advice(site, shapes)),
            Fix("gt.concatenate joins along an axis that is there, and its lengths may differ"),
        ]
    if not offered:
        offered = [
            Fix("cut, pad or reduce them to the same lengths" + ("" if stacks else f" along all axes but {axis}"))
        ]
    return problem(
        "GT113",
        f"{name}: these shapes cannot be joined along axis {axis}: {listed}",
        spans=[site.span],
        operands=operands if len(operands) <= 6 else (),
        table=table if len(operands) <= 6 and table["rows"] else None,
        notes=[note],
        fixes=offered,
    )


def _padding_advice(site: UserExpression, shapes: Sequence[Shape]) -> str:
    """Advice to pad arrays of different lengths along the first axis to one length."""
    if library_of(site.source.imports)[0] == "torch":
        return "pad them to one length: torch.nn.utils.rnn.pad_sequence([...], batch_first=True)"
    longest, others = max(shape[0] for shape in shapes), ", (0, 0)" * (len(shapes[0]) - 1)
    return f"pad them to one length: np.pad(x, ((0, {longest} - len(x)){others or ','})) for each"


def _reshape_problem(site: UserExpression, operands: Sequence[Operand], shape: Shape, wanted: Shape) -> Problem:
    size = math.prod(shape)
    count = math.prod(n for n in wanted if n != -1)
    times = " * ".join(str(n) for n in wanted if n != -1) or "1"
    if -1 in wanted:
        note = f"{size} elements are not a multiple of {times} = {count}"
    else:
        note = f"the array has {size} elements; {times} is {count}"
    offered = shape_edits.for_reshape(site, size, wanted, shape)
    return problem(
        "GT114",
        f"cannot reshape {shape} to {wanted}: {note}",
        spans=[site.span],
        operands=operands,
        fixes=offered or [f"lengths that multiply to {size}; one of them may be -1"],
    )


def index_problem(site: UserExpression, operands: Sequence[Operand], words: str) -> Problem:
    """An index that an array does not have, from the words of NumPy's error."""
    name, shape = operands[0].name, operands[0].shape
    beyond = re.search(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)", words)
    many = re.search(r"array is (\d+)-dimensional, but (\d+) were indexed", words)
    kind = re.search(
        r"boolean index did not match .* axis (\d+); size of axis is (\d+) but size .* axis is (\d+)", words
    )
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    notes: list[str] = []
    offered: list[str] = []
    title = words.rstrip(".")
    if beyond:
        index, axis, size = (int(group) for group in beyond.groups())
        notes = (
            [f"axis {axis} of {name} has the indices 0 to {size - 1}, or -{size} to -1"]
            if size
            else [f"axis {axis} of {name} has no elements"]
        )
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and index == size > 0:
            whole = site.source.span(node)
            text = replace_span(whole, site.source.span(node.slice), "-1")
            if text is not None:
                offered = [Fix(text, True, whole)]
        elif index >= size > 0:
            offered = [f"indices up to {size - 1}, or an axis of {index + 1}"]
    elif many:
        title = f"too many indices: {name} has shape {shape}, which is {many[1]} axes, and {many[2]} were indexed"
        offered = [f"at most {many[1]} indices; None adds an axis of length 1"]
    elif kind:
        title = f"a mask of length {kind[3]} along axis {kind[1]} of {name}, which has length {kind[2]} there"
        offered = ["a mask has the lengths of the axes that it masks"]
    elif "only integers" in words or "arrays used as indices" in words:
        title = f"an index of {name} is neither an integer nor a slice, None, ... or an array of integers or booleans"
        offered = ["n // 2 instead of n / 2", "index.astype(int)", "a tuple for several axes: x[i, j]"]
    return problem("GT115", title, spans=[site.span], operands=operands[:1], notes=notes, fixes=offered)


def axis_problem(axis: Any, ndim: int, shape: Shape | None = None, site: UserExpression | None = None) -> Problem:
    """An axis that an array of `ndim` axes does not have, in the present expression or at `site`."""
    site = site or UserExpression.present()
    has = f"axes 0 to {ndim - 1} (or -{ndim} to -1)" if ndim > 1 else "axis 0 (or -1) only" if ndim else "no axes"
    if isinstance(axis, tuple | list) and all(isinstance(a, int) and -ndim <= a < ndim for a in axis):
        return problem("GT117", f"axis {axis!r} names an axis twice", spans=[site.span], fixes="name each axis once")
    of = f"an array of shape {shape}" if shape is not None else f"an array of {ndim} ax{'is' if ndim == 1 else 'es'}"
    offered: list[Fix] = []
    if isinstance(axis, int) and axis == ndim > 0:
        text = shape_edits.with_axis(site, ndim - 1)
        is_checked = is_call_of(site, *shape_edits.REDUCTIONS)  # they take every axis that there is
        offered = shape_edits.stack_for_concatenate(site) or (
            [] if text is None else [Fix(text, is_checked, site.span)]
        )
    return problem("GT117", f"axis {axis!r} is out of bounds: {of} has {has}", spans=[site.span], fixes=offered)


def value_shape_problem(title: str, given: Shape, wanted: Shape) -> Problem:
    """The first argument of a call has a shape that its receiver cannot take."""
    site = UserExpression.present()
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    part = call.args[0] if isinstance(call, ast.Call) and call.args else None
    offered: list[str] = list(shape_edits.for_value(site, part, given, wanted))
    return problem("GT110", title, spans=[site.span], fixes=[*offered, f"give a value of shape {wanted}"])


# -- seeds


def seed_shape_problem(what: str, given: Shape, shape: Shape, target: Any = None) -> Problem:
    """The problem for a seed whose shape is not that of its target, at the line of the seed."""
    site = UserExpression.present()
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    part: ast.expr | None = None
    if isinstance(call, ast.Call):
        part = next((k.value for k in call.keywords if k.arg in (what, "gradient", "grad_outputs")), None)
        if part is None:
            rest = call.args[2:3] if what == "output_gradients" else call.args[-1:] if what != "grad_outputs" else []
            part = rest[0] if rest else None
    operands: list[Operand] = []
    name = "the seed"
    if part is not None and not isinstance(part, ast.List | ast.Tuple | ast.Dict):
        span = site.source.span(part)
        name = one_line(span.text)
        operands.append(Operand(name, given, None, site.binding(part), span))
    fits = shape_edits.broadcast_shape([given, shape]) == shape
    size, wanted = math.prod(given), math.prod(shape)
    offered: list[str] = []
    text = "seed" if name == "the seed" else name
    stretched = f"{site.source.spelled('broadcast_to')}({text}, {shape})"
    whole = site.span
    place = operands[0].span if operands else None
    written = replace_span(whole, place, stretched) if fits and place is not None else None
    if written is not None:
        offered.append(Fix(written, True, whole))
    elif fits:
        offered.append(f"{stretched} makes it fit")
    elif size == wanted:
        offered.append(f"{site.source.spelled('reshape')}({text}, {shape}) if the order of its elements is meant")
    offered.append(f"give an array of shape {shape}")
    notes = []
    if target is not None:
        kind = "the target"
        origin = record_of(target)
        if origin is not None and origin.location.is_known and origin.operation:
            notes.append(f"{kind} was made by {origin.operation} at {origin.location}")
    return problem(
        "GT301",
        f"{what}: the seed has shape {given}, the target it weighs has shape {shape}",
        spans=[site.span],
        operands=operands,
        notes=notes,
        consequence="a seed of the wrong shape is not stretched: it would surface later, in an innocent reshape",
        fixes=offered,
    )


__all__ = [
    "axis_problem",
    "explain_numpy_error",
    "find_shape_problem",
    "index_problem",
    "seed_shape_problem",
    "shape_and_dtype",
    "shape_table",
]

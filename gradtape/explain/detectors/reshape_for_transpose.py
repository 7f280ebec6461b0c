"""Detector: a reshape to the same lengths in another order, where a transposition was meant.

`reshape` keeps the elements in their order, so that (time, batch) read as (batch, time) mixes the examples. Nothing
fails, and the shapes are those that were wanted.
"""

from __future__ import annotations

import ast
from itertools import accumulate, pairwise
from operator import mul

from gradtape.explain.emit.policy import is_due, report, warn
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line

Shape = tuple[int, ...]
_RESHAPES = ("reshape", "view")


def is_swap(old: Shape, new: Shape) -> bool:
    """Whether lengths above 1 are in another order, and no axes that were only split or joined explain it.

    >>> is_swap((12, 5), (5, 12)), is_swap((3, 1, 4), (1, 3, 4)), is_swap((2, 4, 8), (8, 4, 2))
    (True, False, False)
    """
    before, after = ([n for n in shape if n != 1] for shape in (old, new))
    if before == after or sorted(before) != sorted(after) or 0 in before:
        return False
    ends, others = list(accumulate(before, mul)), list(accumulate(after, mul))
    shared = [0, *(end for end in ends if end in others)]
    return any(
        min(sum(low < end <= high for end in ends), sum(low < end <= high for end in others)) > 1
        for low, high in pairwise(shared)
    )


def check_reshape(old: Shape, new: Shape, site: UserExpression | None = None) -> None:
    """Warn of a reshape from `old` to `new` that the user wrote, if it only reorders the lengths.

    `site` is the user's expression, if it is not the present one: of a reshape that a gradient was taken of. Three or
    more axes have meanings there, and the warning is given aloud.
    """
    if not is_swap(old, new):
        return
    is_certain = site is not None and len([n for n in old if n != 1]) > 2
    site = site or UserExpression.present()
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    name = _called_name(call) if isinstance(call, ast.Call) else ""
    if not isinstance(call, ast.Call) or name not in _RESHAPES:
        return  # a rule, or a function that reshapes
    span = site.source.span(call)
    if not is_due("GT510", span.file, span.line, span.column):
        return
    order = _axis_order(old, new)
    written = None if order is None else _write_transpose(site, call, order)
    advice = "np.transpose(x, axes) for the order of the axes, reshape for axes of length 1 only"
    found = problem(
        "GT510",
        f"{name} from {old} to {new} does not swap the axes: it reads the same elements in the same order",
        spans=[span],
        consequence="each row of the result has elements of several rows or columns, and so has its gradient",
        fixes=[Fix(written, True, span)] if written else advice if order is None else f"np.transpose(x, {order})",
        intent=f"x.ravel() first says that the order of the elements is meant: x.ravel().{name}({new})",
    )
    if is_certain:
        warn(found, is_certain=True)
    else:
        report(found)


def _called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _axis_order(old: Shape, new: Shape) -> Shape | None:
    """The axes of `old` in the order of `new`; of equal lengths, the first comes first. None if the lengths differ.

    >>> _axis_order((12, 5), (5, 12)), _axis_order((12, 5), (5, 1, 12))
    ((1, 0), None)
    """
    left = list(range(len(old)))
    order = []
    for length in new:
        axis = next((axis for axis in left if old[axis] == length), None)
        if axis is None:
            return None
        left.remove(axis)
        order.append(axis)
    return None if left else tuple(order)


def _write_transpose(site: UserExpression, call: ast.Call, order: Shape) -> str | None:
    """The transposition as it is written in the user's library; None if the reshaped array is not in the call."""
    library, bound = library_of(site.source.imports)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_method = owner is not None and not (isinstance(owner, ast.Name) and site.source.is_array_module(owner.id))
    inner = owner if is_method else call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None
    if inner is None:
        return None
    text = one_line(site.source.text(inner))
    axes = ", ".join(map(str, order))
    if library == "torch":
        plain = isinstance(inner, ast.Name | ast.Attribute | ast.Call | ast.Subscript) or is_method
        return f"{text}.permute({axes})" if plain else f"({text}).permute({axes})"
    if library == "tensorflow":
        return f"{bound}.transpose({text}, ({axes}))"
    return f"{site.source.spelled('transpose')}({text}, ({axes}))"

"""Edits of an operation that returned NaN or infinity, tried on the saved numbers; and advice where none works."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtape.explain.model.problem import Fix, Span, source_edit
from gradtape.explain.model.record import Record
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.files import one_line
from gradtape.explain.source.operation_site import OperationSite, is_finite

TINY = "1e-12"
STEPS_AT_MOST = 4096
_LOGARITHMS = ("log", "log2", "log10")
_PRODUCTS = frozenset({"multiply", "matmul", "dot", "einsum", "exp"})


def numeric_edits(place: OperationSite) -> list[Fix]:
    """Edits of an operand with which the operation and its slope are finite."""
    name, dtype = place.name, place.node.dtype
    tiny = TINY if dtype.itemsize >= 8 else "1e-6"
    spelled = place.site.source.spelled
    if _underflowed_product(place):  # a small number added would replace the value
        return _sum_of_logarithms(place)
    if _find_underflow(place) is not None:
        return []
    if _is_not_probability(place):
        return _sigmoid_edit(place)
    if _is_negative_parameter(place):
        return []
    if place.node.library and (clamped := _clamped_probability(place)):
        return clamped
    if name == "exp" and (softplus := _softplus_edit(place) or _softmax_edit(place)):
        return softplus
    if name == "norm" and place.node.library == "jax":
        return _norm_edit(place)
    least: Any = dtype.type(float(tiny))
    if name in ("log", "log2", "log10", "sqrt", "reciprocal", "cbrt", "power"):
        added = place.edit(0, f"{{}} + {tiny}", lambda x: x + least)
        return added or place.edit(0, _bounded(place, "maximum", tiny), lambda x: np.maximum(x, least))
    if name == "divide":
        return place.edit(1, f"{{}} + {tiny}", lambda x: x + least)
    if name in ("arccos", "arcsin", "arctanh"):
        limit = "1e-7" if dtype.itemsize >= 8 else "1e-4"
        most = dtype.type(1 - float(limit))
        return place.edit(0, f"{spelled('clip')}({{}}, -1 + {limit}, 1 - {limit})", lambda x: np.clip(x, -most, most))
    if name in ("exp", "expm1", "exp2", "sinh", "cosh"):
        limit = "350.0" if dtype.itemsize >= 8 else "40.0"
        return place.edit(0, _bounded(place, "minimum", limit), lambda x: np.minimum(x, dtype.type(float(limit))))
    return []


def _bounded(place: OperationSite, name: str, limit: str) -> str:
    """`np.minimum({}, limit)`, or as the library of the file writes it: torch.minimum takes tensors only."""
    library, bound = library_of(place.site.source.imports)
    if library == "torch":
        return f"{bound}.clamp({{}}, {'max' if name == 'minimum' else 'min'}={limit})"
    return f"{place.site.source.spelled(name)}({{}}, {limit})"


ADVICE = {
    "log": "of probabilities, gt.log_softmax(logits) stays in range; scipy.special.xlogy(x, y) knows that 0 log 0 is 0",
    "exp": "take off the maximum first (gt.softmax, gt.logsumexp and np.logaddexp do), or np.expm1 and gt.sigmoid",
    "divide": "a denominator away from zero: y + 1e-12 if y >= 0; or np.where on y before dividing",
    "sqrt": "np.linalg.norm has a slope of zero at zero; np.sqrt(x + 1e-12) a finite one",
    "power": "x**0.5 and smaller powers have no finite slope at zero, negative numbers no real root",
    "arccos": "np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b) is an angle with a finite slope everywhere",
    "log1p": "keep its operand above -1",
    "multiply": "keep both factors finite: 0 times infinity is NaN",
    "add": "keep both terms finite and smaller",
    "subtract": "keep both terms finite: infinity minus infinity is NaN",
}


_CALL_ADVICE = {
    "std": "one example has no spread: more of them, or ddof=0",
    "var": "one example has no spread: more of them, or ddof=0",
}


_PRODUCT_ADVICE = {
    "prod": "the product is too small for a number: add logarithms instead, np.sum(np.log(x)) for np.log(np.prod(x))",
    "det": "the determinant is too small for a number: np.linalg.slogdet(x)[1] is its logarithm",
}


def _underflowed_product(place: OperationSite) -> str:
    """The name of the product ("prod", "det") that underflowed to 0 before its logarithm was taken; else empty."""
    parent = place.node.parents[0] if place.node.parents else None
    name = "" if parent is None else parent.operation
    if place.name not in ("log", "log2", "log10") or name not in _PRODUCT_ADVICE or np.any(place.values[0]):
        return ""
    factors = place.replay.inputs(parent)[0] if parent is not None else None
    if factors is None:
        return name
    with np.errstate(all="ignore"):
        has_zero = not np.all(factors) if name == "prod" else not is_finite(np.linalg.slogdet(factors)[1])
    return "" if has_zero else name


def _sum_of_logarithms(place: OperationSite) -> list[Fix]:
    """`np.sum(np.log(x))` for `np.log(np.prod(x))`, if the user's expression has this form."""
    call = place.site.node
    inner = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords else None
    if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute) or not isinstance(call, ast.Call):
        return []
    source = place.site.source
    if inner.func.attr not in _PRODUCT_ADVICE or len(inner.args) != 1 or inner.keywords or place.name != "log":
        return []
    x = one_line(source.text(inner.args[0]))
    if inner.func.attr == "prod":
        written = f"{source.spelled('sum')}({one_line(source.text(call.func))}({x}))"
    else:
        written = f"{one_line(source.text(inner.func.value))}.slogdet({x})[1]"
    factors = place.replay.inputs(place.node.parents[0])[0]
    if factors is None:
        return [source_edit(written, place.span)]
    with np.errstate(all="ignore"):
        logarithm = np.log(factors) if inner.func.attr == "prod" else np.linalg.slogdet(factors)[1]
    return [Fix(written, True, place.span)] if is_finite(np.asarray(logarithm)) else []


def numeric_advice(place: OperationSite, value: Any = None) -> list[str]:
    """What to write instead of an operation that overflowed or underflowed, in words, where no edit was found."""
    if underflowed := _underflowed_product(place):
        return [_PRODUCT_ADVICE[underflowed]]
    if (product := _find_underflow(place)) is not None:
        return [
            f"it underflows to 0 on the way, at {product.location}: add logarithms instead of multiplying, with "
            "gt.logsumexp for sums; or divide by its sum at every step, and add up the logarithms of the sums"
        ]
    if _is_negative_parameter(place):
        x = place.operand(0)
        return [
            f"{x} itself has become negative, and {x} held at a bound would get no gradient: smaller steps, or learn "
            f"its logarithm, np.exp(log_{x if x.isidentifier() else 'x'})"
        ]
    if _is_not_probability(place):
        return ["gt.nn.functional.binary_cross_entropy_with_logits(z, y) takes numbers that are no probabilities"]
    if place.called in _CALL_ADVICE and not place.is_written:
        return [_CALL_ADVICE[place.called]]
    if place.name in ("softmax", "log_softmax"):  # of finite numbers there always is one
        return ["what is -inf everywhere has no softmax: -1e9 instead of -np.inf in the mask, or leave that row out"]
    if _is_of_infinite_numerator(place):
        return [
            f"{place.operand(0)} is infinite: a large finite number, 1e30 say, where np.inf was written gives the same "
            "minimum, exp(-x) or comparison, and slopes that are finite"
        ]
    if place.name in ("multiply", "add", "subtract", "square", "power", "sum", "matmul") and np.isinf(value or 0.0):
        return ["numbers of this size overflow: take smaller steps, or scale what grows"]
    return [ADVICE.get(place.name, "keep its operands away from there: np.clip, np.where, or a small number added")]


def _is_of_infinite_numerator(place: OperationSite) -> bool:
    """Whether a quotient is not finite though its denominator is not small: its numerator is not finite."""
    below = place.values[1] if place.name == "divide" and len(place.values) == 2 else None
    return below is not None and bool(np.all(np.abs(np.asarray(below)) > 1e-100))


def _is_negative_parameter(place: OperationSite) -> bool:
    """Whether the operand is a parameter and all of it is negative, where there is no logarithm or root."""
    parent = place.node.parents[0] if place.node.parents else None
    if place.name not in (*_LOGARITHMS, "sqrt") or parent is None or parent.operation or not parent.is_tracked:
        return False
    return place.values[0] is not None and bool(np.all(np.asarray(place.values[0]) < 0))


# -- logarithms of values outside (0, 1), and of values that underflowed


def _is_not_probability(place: OperationSite) -> bool:
    """Whether log(z) and log(1 - z) stand in one statement, and z is not between 0 and 1."""
    part = place.parts[0] if place.parts else None
    statement = None if place.site.node is None else place.site.source.statement(place.site.node)
    value = place.values[0] if place.values else None
    if place.name not in _LOGARITHMS or part is None or statement is None or value is None:
        return False
    complement = _complement(part)
    z = part if complement is None else complement
    text = one_line(place.site.source.text(z))
    others = [_complement(other) for other in _logarithm_arguments(statement)]
    both = complement is not None or any(
        other is not None and one_line(place.site.source.text(other)) == text for other in others
    )
    both &= complement is None or any(
        one_line(place.site.source.text(other)) == text for other in _logarithm_arguments(statement)
    )
    return both and bool(np.any(np.asarray(value) < 0) or np.any(np.asarray(value) > 1))


def _clamped_probability(place: OperationSite) -> list[Fix]:
    """The line that made p, kept between 0 and 1, where log(p) and log(1 - p) are both taken: each may be of zero."""
    part = place.parts[0] if place.parts else None
    if place.name not in _LOGARITHMS or part is None or place.site.node is None:
        return []
    name = _complement(part) or part
    scope = next(iter(place.site.source.scopes(place.site.node)), None)
    if not isinstance(name, ast.Name) or scope is None:
        return []
    taken = [
        _complement(call.args[0]) or call.args[0]
        for call in ast.walk(scope)
        if isinstance(call, ast.Call)
        and len(call.args) == 1
        and getattr(call.func, "attr", getattr(call.func, "id", "")) == place.name
    ]
    both = [one for one in taken if isinstance(one, ast.Name) and one.id == name.id]
    made = place.site.binding(name)
    value = None if made is None or made.label or made.file != place.site.source.file else place.site.source.at(made)
    if len(both) < 2 or made is None or not isinstance(value, ast.Call):
        return []
    text = one_line(made.text)
    if library_of(place.site.source.imports)[0] == "torch":
        written = f"{text}.clamp(1e-6, 1 - 1e-6)"
    else:
        written = f"{place.site.source.spelled('clip')}({text}, 1e-6, 1 - 1e-6)"
    return _tried_probability(place, written, made, lambda p: np.clip(p, p.dtype.type(1e-6), p.dtype.type(1 - 1e-6)))


def _logarithm_arguments(statement: ast.stmt) -> Iterator[ast.expr]:
    """The arguments of the logarithms in a statement."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and len(node.args) == 1:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _LOGARITHMS:
                yield node.args[0]


def _complement(part: ast.expr) -> ast.expr | None:
    """The z of `1 - z`."""
    is_difference = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub)
    if is_difference and isinstance(part, ast.BinOp) and isinstance(part.left, ast.Constant) and part.left.value == 1:
        return part.right
    return None


def _sigmoid_edit(place: OperationSite) -> list[Fix]:
    """`gt.sigmoid(X @ w)` where z was bound to `X @ w`."""
    part = place.parts[0]
    z = part if part is None else _complement(part) or part
    bound = place.site.binding(z) if isinstance(z, ast.Name) else None
    if bound is None or bound.label or bound.file != place.site.source.file:
        return []
    written = f"{place.site.source.spelled('sigmoid', 'gradtape')}({one_line(bound.text)})"
    return _tried_probability(place, written, bound, lambda z: 1 / (1 + np.exp(-z)))


def _tried_probability(place: OperationSite, written: str, made: Span, change: Callable[[Any], Any]) -> list[Fix]:
    """The edit of the line that made p, if log(p) and log(1 - p) are finite then; unchecked where p is not known."""
    part, value = place.parts[0], place.values[0]
    if part is None or value is None:
        return [source_edit(written, made)]
    with np.errstate(all="ignore"):
        p = np.asarray(value) if _complement(part) is None else 1 - np.asarray(value)
        changed = np.asarray(change(p))
        works = place.works([changed]) and place.works([1 - changed])
    return [Fix(written, True, made)] if works else []


def _softplus_edit(place: OperationSite) -> list[Fix]:
    """`np.logaddexp(0, z)` for `np.log(1 + np.exp(z))` or `np.log1p(np.exp(z))`."""
    source, exp = place.site.source, place.site.node
    if not isinstance(exp, ast.Call) or len(exp.args) != 1 or exp.keywords or library_of(source.imports)[0]:
        return []
    around = source.parents.get(exp)
    wanted = "log1p"
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add):
        other = around.left if around.right is exp else around.right
        if not isinstance(other, ast.Constant) or other.value != 1:
            return []
        around, wanted = source.parents.get(around), "log"
    if not isinstance(around, ast.Call) or len(around.args) != 1 or around.keywords:
        return []
    name = around.func.attr if isinstance(around.func, ast.Attribute) else getattr(around.func, "id", "")
    if name != wanted:
        return []
    written = f"{source.spelled('logaddexp')}(0.0, {one_line(source.text(exp.args[0]))})"
    if place.values[0] is None:
        return [source_edit(written, source.span(around))]
    works = is_finite(np.logaddexp(0.0, place.values[0]))
    return [Fix(written, True, source.span(around))] if works else []


def _softmax_edit(place: OperationSite) -> list[Fix]:
    """`jax.nn.softmax(z, axis=-1)` for `jnp.exp(z) / jnp.sum(jnp.exp(z), axis=-1, keepdims=True)`."""
    source, exp = place.site.source, place.site.node
    around = source.parents.get(exp) if exp is not None else None
    if place.node.library != "jax" or not isinstance(exp, ast.Call) or not isinstance(around, ast.BinOp):
        return []
    total = around.right
    if not isinstance(around.op, ast.Div) or around.left is not exp or not isinstance(total, ast.Call):
        return []
    named = {keyword.arg: keyword.value for keyword in total.keywords}
    is_sum = isinstance(total.func, ast.Attribute) and total.func.attr == "sum"
    if (
        not is_sum
        or source.text(exp) not in source.text(total)
        or len(exp.args) != 1
        or not {*named} <= {"axis", "keepdims"}
    ):
        return []
    axis = source.text(named["axis"]) if "axis" in named else "None"
    text = f"{source.spelled('softmax', 'gradtape')}({one_line(source.text(exp.args[0]))}, axis={axis})"
    along = _literal(named.get("axis"))
    is_known = place.values[0] is not None and ("axis" not in named or along is not None)
    if not is_known or ("axis" in named and _literal(named.get("keepdims")) is not True):
        return [source_edit(text, source.span(around))]
    with np.errstate(all="ignore"):
        shifted = np.exp(place.values[0] - np.max(place.values[0], axis=along, keepdims=True))
        works = is_finite(shifted / np.sum(shifted, axis=along, keepdims=True))
    return [Fix(text, True, source.span(around))] if works else []


def _literal(part: ast.expr | None) -> Any:
    """The value of a literal; None for any other expression."""
    try:
        return None if part is None else ast.literal_eval(part)
    except ValueError:
        return None


def _norm_edit(place: OperationSite) -> list[Fix]:
    """`jnp.sqrt(jnp.sum(x**2, axis=1) + 1e-12)` for `jnp.linalg.norm(x, axis=1)` of real numbers."""
    source, call = place.site.source, place.site.node
    if not isinstance(call, ast.Call) or len(call.args) != 1 or place.values[0] is None:
        return []
    if not {keyword.arg for keyword in call.keywords} <= {"axis", "keepdims"} or place.node.dtype.kind != "f":
        return []
    text = one_line(source.text(call.args[0]))
    squared = f"{text}**2" if isinstance(call.args[0], ast.Name | ast.Attribute | ast.Subscript) else f"({text}) ** 2"
    rest = "".join(f", {keyword.arg}={source.text(keyword.value)}" for keyword in call.keywords)
    named = {str(keyword.arg): _literal(keyword.value) for keyword in call.keywords}
    spelled = source.spelled
    written = f"{spelled('sqrt')}({spelled('sum')}({squared}{rest}) + {TINY})"
    if None in named.values():
        return [source_edit(written, source.span(call))]
    with np.errstate(all="ignore"):
        x = np.asarray(place.values[0])
        norm = np.sqrt(np.sum(x**2, **{**named, "keepdims": True}) + place.node.dtype.type(float(TINY)))
        works = is_finite(x / norm)  # the slope
    return [Fix(written, True, source.span(call))] if works else []


def _find_underflow(place: OperationSite) -> Record | None:
    """The product that underflowed to zero, earlier in the graph than the logarithm at `place`; None if none did."""
    if place.name not in _LOGARITHMS or not place.node.parents or place.values[0] is None or np.any(place.values[0]):
        return None
    node = place.node.parents[0]
    for _ in range(STEPS_AT_MOST):
        if node.operation not in (
            "multiply",
            "matmul",
            "dot",
            "sum",
            "einsum",
            "mean",
            "exp",
            "getitem",
        ):
            return None
        inputs = place.replay.inputs(node)
        if any(value is None for value in inputs):
            return None
        dead = [parent for parent, value in zip(node.parents, inputs) if not np.any(value) and parent.operation]
        if not dead:
            is_product = node.operation in _PRODUCTS
            return node if is_product and all(np.any(value) or node.operation == "exp" for value in inputs) else None
        node = dead[0]
    return None


__all__ = ["ADVICE", "TINY", "numeric_advice", "numeric_edits"]

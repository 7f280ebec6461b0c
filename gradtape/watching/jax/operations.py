"""What JAX executes, in the names of gradtape's table: a primitive, or a function of `jax.numpy`, as an operation.

The functions of `jax.numpy` arrive as one primitive, `jit`, with the name of the function and the primitives that it
consists of; a primitive of `jax.lax` arrives as itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.explain.model.record import Shape

PRIMITIVES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "add_any": "add",
    "and": "bitwise_and",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "clamp": "clip",
    "conv_general_dilated": "convolution",
    "convert_element_type": "astype",
    "div": "divide",
    "dot_general": "matmul",
    "dynamic_slice": "getitem",
    "eq": "equal",
    "gather": "getitem",
    "ge": "greater_equal",
    "gt": "greater",
    "integer_pow": "power",
    "is_finite": "isfinite",
    "le": "less_equal",
    "logistic": "sigmoid",
    "lt": "less",
    "max": "maximum",
    "min": "minimum",
    "mul": "multiply",
    "ne": "not_equal",
    "neg": "negative",
    "not": "logical_not",
    "or": "bitwise_or",
    "pow": "power",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_prod": "prod",
    "reduce_sum": "sum",
    "rem": "remainder",
    "rev": "flip",
    "scatter": "setitem",
    "select_n": "where",
    "slice": "getitem",
    "squeeze": "reshape",
    "sub": "subtract",
}
"""Primitives whose name is another one in gradtape's table."""

FUNCTIONS = {
    "abs": "absolute",
    "amax": "max",
    "amin": "min",
    "expand_dims": "reshape",
    "matrix_transpose": "transpose",
    "moveaxis": "transpose",
    "ravel": "reshape",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_prod": "prod",
    "reduce_sum": "sum",
    "rem": "remainder",
    "squeeze": "reshape",
    "swapaxes": "transpose",
    "true_divide": "divide",
}
"""Functions of `jax.numpy`, by the name that they are traced with, whose name is another one in gradtape's table."""

REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "var", "std", "softmax", "log_softmax", "logsumexp"})
_REDUCING = ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "argmax", "argmin")
_ELEMENTWISE = frozenset({"absolute", "where", "erf", "rsqrt", "log_sigmoid", "silu", "leaky_relu", "elu", "gelu"})
_LINEAR = frozenset({"setitem", "pad", "cumsum", "sort", "tile"})
_OF_JAX = frozenset({"cond"})
"""Primitives with the name of another operation of gradtape's table: a choice of branches is no condition number."""
CONSTANT = frozenset(
    {"one_hot", "stop_gradient", "argsort", "iota", "nextafter", "population_count"}
    | {name for name, operation in TABLE.items() if operation.kind == "constant"} - _OF_JAX
)
"""Operations whose derivative is zero wherever there is one."""


class Operation(NamedTuple):
    """An operation in gradtape's terms. `order` are the operands of the primitive in the order of gradtape's."""

    name: str
    kind: str
    params: Mapping[str, Any]
    order: Sequence[int] | None = None


def function_name(traced: str) -> str:
    """The name in gradtape's table of a function of `jax.numpy`, from the name that it is traced with.

    >>> function_name("_reduce_sum"), function_name("true_divide"), function_name("_where")
    ('sum', 'divide', 'where')
    """
    name = traced.strip("_")
    return FUNCTIONS.get(name, name)


def kind_of(name: str) -> str:
    """The kind of an operation, as in gradtape's table."""
    if name in _ELEMENTWISE:
        return "elementwise"
    if name in _LINEAR:
        return "linear"
    known = None if name in _OF_JAX else TABLE.get(name)
    if known is None:
        return "constant" if name in CONSTANT else ""
    return str(known.kind)


def describe(
    primitive: str, params: Mapping[str, Any], shapes: Sequence[Shape], result: Shape, jaxpr: Any = None
) -> Operation:
    """The operation that a primitive is; `jaxpr` is what a call consists of, `shapes` are those of its operands."""
    if jaxpr is not None:
        return _describe_call(function_name(str(params.get("name", primitive))), shapes, result, jaxpr)
    if primitive == "select_n" and len(shapes) == 3:
        return Operation("where", kind_of("where"), {}, (0, 2, 1))
    if primitive == "broadcast_in_dim" and shapes:
        return _describe_broadcast(params, shapes[0], result)
    if primitive == "slice":
        index = _slices(params, shapes[0])
        return Operation("getitem", "linear", {"index": index})
    name = PRIMITIVES.get(primitive, primitive)
    if primitive == "argmax" or primitive == "argmin" or name in REDUCTIONS:
        return Operation(name, kind_of(name), _axes(params.get("axes", params.get("axis")), shapes, result))
    if name == "transpose":
        return Operation(name, "linear", {"axes": tuple(params.get("permutation", ()))})
    if name in ("concatenate", "stack"):
        return Operation(name, "linear", {"axis": params.get("dimension", params.get("axis", 0))})
    return Operation(name, kind_of(name), {})


def _describe_call(name: str, shapes: Sequence[Shape], result: Shape, jaxpr: Any) -> Operation:
    """A function of `jax.numpy`, with the axes that it reduces, which only the primitives in it have."""
    if name in REDUCTIONS or name in ("argmax", "argmin", "norm"):
        reducing = next((e for e in equations(jaxpr) if e.primitive.name in _REDUCING), None)
        axes = None if reducing is None else reducing.params.get("axes")
        is_same = reducing is not None and len(reducing.invars[0].aval.shape) == len(shapes[0])
        return Operation(name, kind_of(name), _axes(axes if is_same else None, shapes, result))
    if name in ("transpose", "swapaxes", "moveaxis"):
        moving = next((e for e in equations(jaxpr) if e.primitive.name == "transpose"), None)
        return Operation("transpose", "linear", {} if moving is None else {"axes": moving.params["permutation"]})
    if name == "take_along_axis":
        return Operation("take_along_axis", "linear", {})
    if name == "einsum":
        return Operation(name, kind_of(name), _subscripts(jaxpr))
    return Operation(name, kind_of(name), {})


def _subscripts(jaxpr: Any) -> dict[str, str]:
    """The subscripts of an einsum of two operands that consists of one product; empty for others."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    first, *rest = [e for e in inner.eqns if e.primitive.name != "convert_element_type"] or [None]
    is_product = first is not None and first.primitive.name == "dot_general" and len(inner.invars) == 2
    if first is None or not is_product or any(variable not in inner.invars for variable in first.invars):
        return {}
    (left, right), (left_batch, right_batch) = first.params["dimension_numbers"]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    one, other = ([next(letters) for _ in variable.aval.shape] for variable in first.invars)
    for mine, theirs in [*zip(left_batch, right_batch), *zip(left, right)]:
        other[theirs] = one[mine]
    result = [one[axis] for axis in left_batch]
    result += [letter for axis, letter in enumerate(one) if axis not in (*left_batch, *left)]
    result += [letter for axis, letter in enumerate(other) if axis not in (*right_batch, *right)]
    for equation in rest:
        if equation.primitive.name != "transpose":
            return {}
        result = [result[axis] for axis in equation.params["permutation"]]
    terms = {variable: "".join(term) for variable, term in zip(first.invars, (one, other))}
    if len(terms) != 2:
        return {}
    return {"subscripts": f"{terms[inner.invars[0]]},{terms[inner.invars[1]]}->{''.join(result)}"}


def equations(jaxpr: Any) -> list[Any]:
    """The equations of a jaxpr, with those of the calls in it."""
    found = []
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        inner = called_jaxpr(equation.primitive.name, equation.params)
        found += [equation] if inner is None else equations(inner)
    return found


def called_jaxpr(primitive: str, params: Mapping[str, Any]) -> Any:
    """The jaxpr that a call executes; None if the primitive is not a call."""
    if primitive in ("jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint", "remat"):
        return params.get("jaxpr", params.get("call_jaxpr"))
    if primitive in ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"):
        return params.get("call_jaxpr", params.get("fun_jaxpr"))
    return None


def _axes(axes: Any, shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
    count = len(shapes[0]) if shapes else 0
    if isinstance(axes, int | np.integer):
        axes = (int(axes),)
    found: dict[str, Any] = {"keepdims": len(result) == count and count > 0}
    found["axis"] = None if axes is None or len(axes) == count > 1 else tuple(int(axis) for axis in axes)
    return found


def _describe_broadcast(params: Mapping[str, Any], shape: Shape, result: Shape) -> Operation:
    """`x[:, None]` if only axes of length 1 are added, else `broadcast_to`."""
    kept = tuple(params.get("broadcast_dimensions", ()))
    if tuple(result[axis] for axis in kept) == shape and np.prod(result) == np.prod(shape) and len(result) > len(shape):
        index = tuple(slice(None) if axis in kept else None for axis in range(len(result)))
        return Operation("getitem", "linear", {"index": index})
    return Operation("broadcast_to", "linear", {"shape": result})


def _slices(params: Mapping[str, Any], shape: Shape) -> tuple[slice, ...]:
    starts, ends = params["start_indices"], params["limit_indices"]
    steps = params.get("strides") or (1,) * len(starts)
    return tuple(
        slice(None) if (first, last, step) == (0, length, 1) else slice(first, last, step)
        for first, last, step, length in zip(starts, ends, steps, shape)
    )


__all__ = ["CONSTANT", "Operation", "called_jaxpr", "describe", "equations", "function_name", "kind_of"]

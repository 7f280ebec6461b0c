"""The value of a primitive for NumPy arrays, where NumPy has it; else JAX executes it.

Programs under `jax.jit` have no intermediate values. To explain them, what was traced is evaluated again with the
arguments of a call: with NumPy, because JAX compiles every primitive and shape that it meets for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradtape.watching.jax.operations import called_jaxpr

EFFECTS = ("callback", "debug", "print", "infeed", "outfeed", "random_bits_callback")
"""Parts of the names of primitives that do more than compute: they are not executed a second time."""

_UNARY = {
    "abs": np.abs,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "ceil": np.ceil,
    "copy": np.asarray,
    "copy_p": np.asarray,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "is_finite": np.isfinite,
    "log": np.log,
    "log1p": np.log1p,
    "logistic": lambda x: (1 / (1 + np.exp(-x))).astype(x.dtype),
    "neg": np.negative,
    "not": np.invert,
    "rsqrt": lambda x: (1 / np.sqrt(x)).astype(x.dtype),
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "square": np.square,
    "stop_gradient": np.asarray,
    "tan": np.tan,
    "tanh": np.tanh,
}
_BINARY = {
    "add": np.add,
    "add_any": np.add,
    "atan2": np.arctan2,
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "ne": np.not_equal,
    "sub": np.subtract,
}
_LOGICAL = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_REDUCING = {
    "reduce_and": np.logical_and.reduce,
    "reduce_max": np.maximum.reduce,
    "reduce_min": np.minimum.reduce,
    "reduce_or": np.logical_or.reduce,
    "reduce_prod": np.multiply.reduce,
    "reduce_sum": np.add.reduce,
}


class HasEffects(Exception):
    """What was to be evaluated does more than compute."""


def evaluate(primitive: Any, params: Mapping[str, Any], values: Sequence[Any]) -> list[Any]:
    """The results of a primitive, as NumPy arrays."""
    name = primitive.name
    if any(part in name for part in EFFECTS):
        raise HasEffects(name)
    jaxpr = called_jaxpr(name, params)
    if jaxpr is not None:
        return evaluate_jaxpr(jaxpr, values)
    with np.errstate(all="ignore"):
        found = _with_numpy(name, params, [as_array(value) for value in values])
    if found is not None:
        return [found]
    results = primitive.bind(*[_for_jax(value) for value in values], **params)
    return [as_array(result) for result in (results if primitive.multiple_results else [results])]


def evaluate_jaxpr(
    closed: Any, values: Sequence[Any], execute: Callable[[Any, Sequence[Any]], list[Any]] | None = None
) -> list[Any]:
    """The results of a closed jaxpr, equation by equation; `execute` gives those of an equation."""
    jaxpr, constants = getattr(closed, "jaxpr", closed), getattr(closed, "consts", ())
    known: dict[Any, Any] = {}
    known.update(zip(jaxpr.constvars, constants))
    known.update(zip(jaxpr.invars, values))

    def read(variable: Any) -> Any:
        return variable.val if hasattr(variable, "val") else known[variable]

    for equation in jaxpr.eqns:
        given = [read(variable) for variable in equation.invars]
        results = evaluate(equation.primitive, equation.params, given) if execute is None else execute(equation, given)
        known.update(zip(equation.outvars, results))
    return [as_array(read(variable)) for variable in jaxpr.outvars]


def as_array(value: Any) -> Any:
    """A value as a NumPy array; keys of random number generators, which NumPy does not have, as they are."""
    is_key = isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended)
    return value if is_key else np.asarray(value)


def _for_jax(value: Any) -> Any:
    return value if type(value).__module__.startswith("jax") else jnp.asarray(value)


def _with_numpy(name: str, params: Mapping[str, Any], values: Sequence[np.ndarray[Any, Any]]) -> Any:
    """The result that NumPy gives; None if this primitive is left to JAX."""
    if any(not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub" for value in values):
        return None
    if name in _UNARY:
        return np.asarray(_UNARY[name](values[0]))  # type: ignore[operator]
    if name in _BINARY:
        return np.asarray(_BINARY[name](*values))
    if name in _LOGICAL and values[0].dtype.kind in "iub":
        return np.asarray(_LOGICAL[name](*values))
    if name in _REDUCING:
        total = _REDUCING[name](values[0], axis=tuple(params["axes"]))
        return np.asarray(total, values[0].dtype)
    more = _OTHERS.get(name)
    return None if more is None else more(params, *values)


def _divide(params: Mapping[str, Any], x: Any, y: Any) -> Any:
    return np.asarray(np.divide(x, y)) if x.dtype.kind == "f" else None


def _power(params: Mapping[str, Any], x: Any, y: Any) -> Any:
    return np.asarray(np.power(x, y.astype(x.dtype))) if x.dtype.kind == "f" else None


def _integer_power(params: Mapping[str, Any], x: Any) -> Any:
    return np.asarray(np.power(x, x.dtype.type(params["y"]))) if x.dtype.kind == "f" else None


def _select(params: Mapping[str, Any], which: Any, *cases: Any) -> Any:
    return np.where(which, cases[1], cases[0]) if len(cases) == 2 and which.dtype.kind == "b" else None


def _broadcast(params: Mapping[str, Any], x: Any, *more: Any) -> Any:
    shape, kept = tuple(params["shape"]), tuple(params["broadcast_dimensions"])
    if more:
        return None
    axes = [1] * len(shape)
    for axis, length in zip(kept, x.shape):
        axes[axis] = length
    return np.broadcast_to(x.reshape(axes), shape)


def _convert(params: Mapping[str, Any], x: Any) -> Any:
    wanted = np.dtype(params["new_dtype"])
    return x.astype(wanted) if wanted.kind in "fiub" and not (x.dtype.kind == "f" and wanted.kind in "iu") else None


def _product(params: Mapping[str, Any], x: Any, y: Any) -> Any:
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    if x.dtype != y.dtype or x.dtype.kind != "f" or params.get("preferred_element_type") not in (None, x.dtype):
        return None
    if not left_batch:
        return np.asarray(np.tensordot(x, y, (tuple(left), tuple(right))), x.dtype)
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    of_x = [next(letters) for _ in range(x.ndim)]
    of_y = [next(letters) for _ in range(y.ndim)]
    for one, other in [*zip(left_batch, right_batch), *zip(left, right)]:
        of_y[other] = of_x[one]
    batch = [of_x[axis] for axis in left_batch]
    kept = [c for i, c in enumerate(of_x) if i not in (*left_batch, *left)]
    kept += [c for i, c in enumerate(of_y) if i not in (*right_batch, *right)]
    return np.einsum(f"{''.join(of_x)},{''.join(of_y)}->{''.join(batch + kept)}", x, y)


def _slice(params: Mapping[str, Any], x: Any) -> Any:
    steps = params["strides"] or (1,) * x.ndim
    return x[tuple(map(slice, params["start_indices"], params["limit_indices"], steps))]


def _reshape(params: Mapping[str, Any], x: Any, *more: Any) -> Any:
    return None if more or params.get("dimensions") is not None else x.reshape(params["new_sizes"])


_OTHERS: dict[str, Callable[..., Any]] = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda params, *parts: np.concatenate(parts, params["dimension"]),
    "convert_element_type": _convert,
    "div": _divide,
    "dot_general": _product,
    "integer_pow": _integer_power,
    "pow": _power,
    "reshape": _reshape,
    "select_n": _select,
    "slice": _slice,
    "squeeze": lambda params, x: np.squeeze(x, tuple(params["dimensions"])),
    "transpose": lambda params, x: np.transpose(x, params["permutation"]),
}


__all__ = ["HasEffects", "as_array", "evaluate", "evaluate_jaxpr"]

"""Functions of gradtape inside JAX: under `jax.jit`, `jax.grad` and `jax.vmap`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.bridges.probing import shapes_by_trial
from gradtape.bridges.program import ArrayProgram, BridgeCall, check_callable
from gradtape.extend import import_library


def as_jax(function: Callable[..., Any], result: Any = None) -> Callable[..., Any]:
    """`function`, of tensors, as a function of JAX's arrays with its gradient as a custom rule.

    It runs on the host, by `jax.pure_callback`: `function` must depend on nothing but its arguments. Arguments and
    results can be nested; arrays become tensors, everything else is passed on as it is. Reverse mode works to any
    order (`jax.grad`, `jax.jacrev`); JAX's forward mode does not, as for every custom reverse rule.

    JAX has to know the shapes of the results before there are numbers. They are found by a trial on numbers between
    0.25 and 0.75; where the shapes depend on the numbers, or the trial fails, give them as `result`: arrays or
    `jax.ShapeDtypeStruct`s, in the structure that `function` returns.

    >>> import numpy as np, gradtape as gt
    >>> from importlib.util import find_spec
    >>> if find_spec("jax"):
    ...     import jax
    ...     slope = jax.jit(jax.grad(gt.bridges.as_jax(lambda x: np.sum(x ** 3))))
    ...     assert slope(jax.numpy.ones(2)).tolist() == [3.0, 3.0]
    """
    jax = import_library("jax", "as_jax")
    check_callable(function, "as_jax")

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = BridgeCall(function, (args, kwargs), lambda leaf: isinstance(leaf, (jax.Array, np.ndarray)))
        shapes = shapes_by_trial(call, "as_jax", result)
        kinds = [jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(dtype)) for shape, dtype in shapes]
        return call.results(_run(call.program, kinds, call.arrays))

    return wrapped


def _run(program: ArrayProgram, kinds: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """The results of `program`, which have these shapes and dtypes, as JAX's arrays that JAX can differentiate."""
    jax = import_library("jax", "as_jax")

    def host(*values: Any) -> list[Any]:
        results = program(*[np.asarray(value) for value in values])
        return [np.asarray(found, kind.dtype) for found, kind in zip(results, kinds, strict=True)]

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def call(*values: Any) -> Any:
        return jax.pure_callback(host, list(kinds), *values, vmap_method="sequential")

    def forward(*values: Any) -> Any:
        return call(*values), values

    def backward(values: Any, cotangents: Any) -> tuple[Any, ...]:
        wanted = [place for place, value in enumerate(values) if _has_derivative(value)]
        seeds = [seed for seed, kind in zip(cotangents, kinds, strict=True) if _has_derivative(kind)]
        derivative = program.derivative(len(values), wanted, conjugated=True)
        like = [jax.ShapeDtypeStruct(values[place].shape, values[place].dtype) for place in wanted]
        supply = iter(_run(derivative, like, [*values, *seeds]))
        return tuple(
            next(supply) if place in wanted else np.zeros(value.shape, jax.dtypes.float0)
            for place, value in enumerate(values)
        )

    call.defvjp(forward, backward)
    return list(call(*arrays))


def _has_derivative(array: Any) -> bool:
    return np.dtype(array.dtype).kind in "fc"

"""TensorFlow's functions for branches and loops. They run as Python's do; gradients go through what was run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.arrays import stack
from gradtape_standins.tensorflow.conversion import Holder, integers, value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape_standins.tensorflow.execution_context import note_effect
from gradtape_standins.tensorflow.ragged import RaggedTensor
from gradtape_standins.tensorflow.ragged import stack as rows_of
from gradtape_standins.tensorflow.shapes import RaggedTensorSpec
from gradtape_standins.tensorflow.tensor import wrap


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """What `true_fn` or `false_fn` returns."""
    return true_fn() if bool(pred) else false_fn()


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case"
) -> Any:
    """What the function of the first true condition returns."""
    for pred, function in pred_fn_pairs:
        if bool(pred):
            return function()
    if default is None:
        raise ValueError(explained("tf.case: no condition is true, and there is no default"))
    return default()


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """What the function of that number returns; the last one (or `default`) for numbers out of range."""
    functions = dict(branch_fns if isinstance(branch_fns, dict) else enumerate(branch_fns))
    fallback = functions[max(functions)] if default is None else default
    return functions.get(integers(branch_index), fallback)()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """`loop_vars` after `body` was applied while `cond` holds."""
    state, most, count = loop_vars, integers(maximum_iterations), 0
    while bool(cond(*state)) and (most is None or count < most):
        new = body(*state)
        state = new if isinstance(new, list | tuple) else [new]
        count += 1
    return state


def _rows(elems: Any) -> list[Any]:
    parts = nest.map_structure(lambda x: x if isinstance(x, RaggedTensor) else wrap(value_of(x)), elems)
    count = len(nest.flatten(parts)[0])
    return [nest.map_structure(lambda x, i=i: x[i], parts) for i in range(count)]


def _stacked(rows: list[Any]) -> Any:
    return nest.map_structure(lambda *parts: stack(parts), *rows)


@in_tensorflow_terms
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of each slice along the first axis, stacked."""
    found = [fn(row) for row in _rows(elems)]
    ragged = isinstance(elems, RaggedTensor) or isinstance(fn_output_signature, RaggedTensorSpec)
    if ragged and isinstance(found[0], Holder) and len(found[0].shape) == 1:  # type: ignore[attr-defined]
        return rows_of(found)
    return _stacked(found)


def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """`fn` of each slice along the first axis, stacked."""
    return map_fn(fn, elems)


def _folded(fn: Callable[..., Any], elems: Any, initializer: Any, backwards: bool) -> list[Any]:
    rows = _rows(elems)
    rows = rows[::-1] if backwards else rows
    state = rows[0] if initializer is None else nest.map_structure(lambda x: wrap(value_of(x)), initializer)
    found = [state] if initializer is None else []
    for row in rows[1:] if initializer is None else rows:
        state = fn(state, row)
        found.append(state)
    return found or [state]


@in_tensorflow_terms
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """`fn` of the last result and each slice along the first axis; all results, stacked."""
    found = _folded(fn, elems, initializer, reverse)
    return _stacked(found[::-1] if reverse else found)


@in_tensorflow_terms
def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, *others: Any, **more: Any) -> Any:
    """`fn` of the last result and each slice along the first axis; the last result."""
    return _folded(fn, elems, initializer, False)[-1]


@in_tensorflow_terms
def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, *others: Any, **more: Any) -> Any:
    """As `foldl`, from the last slice to the first."""
    return _folded(fn, elems, initializer, True)[-1]


def group(*inputs: Any, **kwargs: Any) -> None:
    """Nothing: what was computed was computed."""


def no_op(name: str | None = None) -> None:
    """Nothing."""


def timestamp(name: str | None = None) -> Any:
    """The seconds since 1970, as a tensor."""
    note_effect("the time")
    return wrap(gt.Tensor(np.array(time.time())))

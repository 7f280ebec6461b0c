"""Tensors as autograd's boxes: tracked ones stay what they are, all others are plain arrays and numbers."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.extend import Tensor, array_of, concrete, is_recorded, is_tracked, leaves, rebuild


def settled(value: Any) -> Any:
    """`value` as autograd would hand it out: an array, or a number, unless some tape follows it.

    >>> import gradtape as gt
    >>> settled(gt.tensor([1.0, 2.0]))
    array([1., 2.])
    """
    if type(value) is Tensor and not is_tracked(value):
        value = array_of(value)
        return value if value.ndim else value[()]
    if builtins.isinstance(value, (tuple, list)) and any(type(item) is Tensor for item in value):
        items = [settled(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def floating(x: Any) -> Any:
    """An array of integers as one of floating point numbers, of which there are derivatives; all else as it is.

    >>> floating(np.array([1, 2]))
    array([1., 2.])
    """
    return x.astype(float) if isinstance(x, np.ndarray) and x.dtype.kind in "iub" else x


def settled_structure(tree: Any) -> Any:
    """A nested structure with `settled` leaves."""
    return rebuild(tree, [settled(leaf) for leaf in leaves(tree)])


def unboxed(argument: Any, convert: Callable[[Any], Any]) -> Any:
    """An argument whose tensors, its own or those in the container that it is, are converted."""
    if isinstance(argument, Tensor):
        return convert(argument)
    if not isinstance(argument, (list, tuple, dict)):
        return argument
    flat = leaves(argument)
    if not any(isinstance(leaf, Tensor) for leaf in flat):
        return argument
    return rebuild(argument, [convert(leaf) for leaf in flat])


def getval(value: Any) -> Any:
    """The array or number behind a tensor, on however many tapes it is; anything else as it is.

    >>> import gradtape as gt
    >>> getval(gt.tensor(2.0)), getval("text")
    (np.float64(2.0), 'text')
    """
    if not isinstance(value, Tensor):
        return value
    array = concrete(value)
    return array if array.ndim else array[()]


def isbox(value: Any) -> bool:
    """Whether `value` is a tensor that some tape follows.

    >>> import gradtape as gt
    >>> isbox(gt.tensor(2.0)), isbox(gt.tensor(2.0, requires_grad=True))
    (False, True)
    """
    return isinstance(value, Tensor) and is_recorded(value)


def holds_box(value: Any) -> bool:
    """Whether there is a tracked tensor in a nested structure."""
    return any(isbox(leaf) for leaf in leaves(value))


def holds_tensor(value: Any) -> bool:
    """Whether there is a tensor in nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return any(holds_tensor(item) for item in value)
    return isinstance(value, Tensor)


def conjugate(value: Any) -> Any:
    """Between gradtape's convention for complex cotangents and autograd's, which is the conjugate of it."""
    return np.conj(value) if getattr(value, "dtype", None) is not None and value.dtype.kind == "c" else value

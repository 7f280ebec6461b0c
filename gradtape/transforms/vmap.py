"""vmap: a function for one example, applied to a batch of them at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.batch import BatchLevel, BatchTensor, unbatch
from gradtape.core.explain_hooks import any_zero_or_nonfinite
from gradtape.core.pytree import children, leaves, rebuild
from gradtape.core.tensor import Tensor
from gradtape.explain import messages
from gradtape.transforms.gradients import argument_name, check_function, hand_out

Function = Callable[..., Any]


def vmap(function: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
    """`function`, written for one example, applied to a batch of them at once.

    `in_axes` says which axis of each argument runs over the examples (None: the argument is the same for all); it may
    be a structure like the arguments. `out_axes` says where that axis goes in the results.

    >>> import numpy as np, gradtape as gt
    >>> gt.vmap(np.dot)(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [1.0, 0.0]]))
    array([3., 3.])
    """
    check_function(function, "vmap")

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        axes = _axes_for(args, in_axes, "in_axes")
        flat = leaves(args)
        size = _batch_size(function, args, flat, axes)
        level = BatchLevel(size)
        lifted = [x if axis is None else _lifted(x, axis, level) for x, axis in zip(flat, axes, strict=True)]
        result = function(*rebuild(args, lifted), **kwargs)
        if result is None:
            raise messages.returned_none(getattr(function, "__name__", "the function"))
        outputs = leaves(result)
        places = _axes_for(result, out_axes, "out_axes")
        as_numpy = not any(isinstance(x, Tensor) for x in flat)
        values = []
        for output, place in zip(outputs, places, strict=True):
            if place is None:
                if isinstance(output, BatchTensor) and output.level is level:
                    raise messages.differs_between_examples(size)
                values.append(output)
                continue
            batched = unbatch(output, level)
            values.append(hand_out(np.moveaxis(batched, 0, place), as_numpy, set()))
        if any_zero_or_nonfinite(values):
            from gradtape.explain.kernel.per_row import examine_examples

            examine_examples(function, args, kwargs, axes, list(zip(values, places, strict=True)))
        return rebuild(result, values)

    return wrapped


def _lifted(x: Any, axis: int, level: BatchLevel) -> BatchTensor:
    value: Any = x if isinstance(x, Tensor) else np.asarray(x)
    return BatchTensor(np.moveaxis(value, axis, 0), level)


def _axes_for(tree: Any, axes: Any, what: str) -> list[Any]:
    """One axis (or None) for each leaf of `tree`, from `axes` given for the whole or for parts of it."""
    if axes is None or isinstance(axes, int | np.integer):
        return [axes] * len(leaves(tree))
    branch, given = children(tree), children(axes)
    if branch is None or given is None or len(branch) != len(given):
        raise messages.wrong_axes(what, axes, None if branch is None else len(branch))
    return [axis for part, axis_part in zip(branch, given, strict=True) for axis in _axes_for(part, axis_part, what)]


def _batch_size(function: Function, args: tuple[Any, ...], flat: list[Any], axes: list[Any]) -> int:
    def called(index: int) -> str:
        return argument_name(function, dict(enumerate(args)), index)

    sizes = {}
    for index, (x, axis) in enumerate(zip(flat, axes, strict=True)):
        if axis is None:
            continue
        shape = np.shape(x)
        if not -len(shape) <= axis < len(shape):
            raise messages.no_axis_to_map(called(index), shape, axis)
        sizes[index] = shape[axis]
    if not sizes:
        raise messages.nothing_to_map()
    if len(set(sizes.values())) > 1:
        raise messages.different_batches([(called(i), np.shape(flat[i]), axes[i], n) for i, n in sizes.items()])
    return int(next(iter(sizes.values())))

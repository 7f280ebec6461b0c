"""New tensors: zeros, ones, ranges, and what is shaped like another."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.tensor import Tensor, is_tracked, plain
from gradtape.core.typing import DTypeLike, ShapeLike, TensorLike
from gradtape.core.views import lay_out
from gradtape.errors import OperandError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import identity, result_type
from gradtape.ops.elementwise import positive
from gradtape.ops.shaping import broadcast_to, moveaxis

__all__ = [
    "arange",
    "copy",
    "eye",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


@answers(np.zeros, np.empty)
def zeros(shape: ShapeLike, dtype: DTypeLike = float, order: Any = "C", *, device: str | None = None) -> Tensor:
    """Zeros of a shape.

    >>> import gradtape as gt
    >>> gt.zeros(2)
    Tensor([0., 0.])
    """
    return Tensor(np.zeros(shape, dtype, order))


@answers(np.ones)
def ones(shape: ShapeLike, dtype: DTypeLike = float, order: Any = "C", *, device: str | None = None) -> Tensor:
    """Ones of a shape.

    >>> import gradtape as gt
    >>> gt.ones(2)
    Tensor([1., 1.])
    """
    return Tensor(np.ones(shape, dtype, order))


@answers(np.full)
def full(shape: ShapeLike, fill_value: Any, dtype: Any = None, order: str = "C", *, device: str | None = None) -> Any:
    """One value everywhere; a tensor's gradient is the sum of its copies'.

    >>> import gradtape as gt
    >>> gt.full(2, 7.0)
    Tensor([7., 7.])
    """
    value = fill_value
    if not isinstance(fill_value, Tensor):
        drops = dtype is not None and np.iscomplexobj(fill_value)  # the imaginary part, which NumPy warns of
        value = Tensor(np.asarray(fill_value).astype(dtype) if drops else np.asarray(fill_value, dtype))
    filled = broadcast_to(value, shape)
    return lay_out(identity(filled) if dtype is None else filled.astype(dtype), checked_order(order))


@answers(np.eye)
def eye(
    n: int, m: int | None = None, k: int = 0, dtype: DTypeLike = float, order: str = "C", *, device: str | None = None
) -> Tensor:
    """Ones on a diagonal.

    >>> import gradtape as gt
    >>> gt.eye(2)
    Tensor([[1., 0.],
            [0., 1.]])
    """
    return Tensor(np.eye(n, m, k, dtype))


@answers(np.arange)
def arange(*bounds: Any, dtype: DTypeLike = None, device: str | None = None, **named: Any) -> Tensor:
    """Evenly spaced numbers, as `np.arange`; a start and a step that are tensors have gradients.

    Where the numbers stop only decides how many there are: the gradient for it is 0.

    >>> import gradtape as gt
    >>> gt.arange(3.0)
    Tensor([0., 1., 2.])
    >>> float(gt.grad(lambda step: gt.arange(0.0, 1.0, step).sum())(0.3))
    6.0
    """
    given: dict[str, Any] = dict(zip(("start", "stop", "step"), bounds, strict=False)) | named
    tensors = [x for x in given.values() if isinstance(x, Tensor)]
    kind = np.dtype(dtype) if dtype is not None else result_type(int, *tensors)
    if kind.kind != "f" or not any(isinstance(x, Lifted) or is_tracked(x) for x in tensors):
        numbers = {name: plain(x) for name, x in named.items()}
        return Tensor(np.arange(*(plain(x) for x in bounds), dtype=dtype, **numbers))
    start, stop, step = (given.get(name) for name in ("start", "stop", "step"))
    start, stop = (0, start) if stop is None else (0 if start is None else start, stop)
    step = 1 if step is None else step
    # as NumPy computes it: their number by the ends, their distance by the first two of them
    count = max(int(np.ceil((stop - start) / step)), 0)  # type: ignore[operator]
    spaced: Any = start + np.arange(count) * ((start + step) - start)
    if isinstance(stop, Tensor):
        spaced = spaced + 0 * stop
    typed: Tensor = spaced.astype(kind)
    return typed


@answers(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: str | None = None,
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`; both can be tensors with gradients.

    >>> import gradtape as gt
    >>> gt.linspace(0.0, 1.0, 3)
    Tensor([0. , 0.5, 1. ])
    """
    if num < 0:
        raise argument_error(OperandError, f"linspace: num={num}.", "how many numbers, 0 or more")
    gaps = max(num - 1 if endpoint else num, 1)
    kind = result_type(start, stop, 1.0)
    steps = Tensor((np.arange(num) / gaps).astype(kind.type(0).real.dtype))
    steps = steps.reshape((num,) + (1,) * len(np.broadcast_shapes(np.shape(start), np.shape(stop))))
    spaced = moveaxis(start * (1 - steps) + stop * steps, 0, axis)
    if dtype is not None:
        spaced = (np.floor(spaced) if np.dtype(dtype).kind in "iu" else spaced).astype(dtype)
    return (spaced, (stop - start) / gaps) if retstep else spaced


def checked_order(order: str | None) -> str:
    """The letter of a layout in memory: C, F, A or K; None is K."""
    letter = "K" if order is None else str(order).upper()
    if letter not in ("C", "F", "A", "K"):
        raise argument_error(OperandError, f"order={order!r}.", "'C', 'F', 'A' or 'K'")
    return letter


def _shape(x: TensorLike, shape: ShapeLike | None) -> Any:
    return as_value(x).shape if shape is None else shape


@answers(np.zeros_like, np.empty_like)
def zeros_like(
    x: TensorLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Zeros of the shape and dtype of `x`.

    >>> import gradtape as gt
    >>> gt.zeros_like(gt.tensor([1.0, 2.0]))
    Tensor([0., 0.])
    """
    made = Tensor(np.zeros(_shape(x, shape), as_value(x).dtype if dtype is None else dtype))
    return lay_out(made, checked_order(order), x)


@answers(np.ones_like)
def ones_like(
    x: TensorLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Ones of the shape and dtype of `x`.

    >>> import gradtape as gt
    >>> gt.ones_like(gt.tensor([1.0, 2.0]))
    Tensor([1., 1.])
    """
    made = Tensor(np.ones(_shape(x, shape), as_value(x).dtype if dtype is None else dtype))
    return lay_out(made, checked_order(order), x)


@answers(np.full_like)
def full_like(
    x: TensorLike,
    fill_value: TensorLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: str | None = None,
) -> Any:
    """One value everywhere, in the shape and dtype of `x`.

    >>> import gradtape as gt
    >>> gt.full_like(gt.tensor([1.0, 2.0]), 7)
    Tensor([7., 7.])
    """
    made = full(_shape(x, shape), fill_value, as_value(x).dtype if dtype is None else dtype)
    return lay_out(made, checked_order(order), x)


@answers(np.copy)
def copy(x: TensorLike, order: str = "K", subok: bool = False) -> Any:
    """A new tensor with the same value; the gradient passes.

    >>> import gradtape as gt
    >>> gt.copy(gt.tensor([1.0]))
    Tensor([1.])
    """
    x = as_value(x)
    return lay_out(positive(x) if x.dtype.kind != "b" else identity(x), checked_order(order), x)

"""What the simplest layers compute: linear and bilinear maps, embeddings, dropout."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import linear as linear_row
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.einsum import einsum
from gradtape.ops.elementwise import where
from gradtape.ops.labels import checked_labels
from gradtape.ops.products import matmul
from gradtape.ops.shaping import broadcast_to

__all__ = ["bilinear", "dropout", "dropout1d", "dropout2d", "dropout3d", "embedding", "linear"]


def linear(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Any:
    """input @ weight.T + bias, for a `weight` of (out features, in features) and input (..., in features).

    >>> import gradtape as gt
    >>> gt.nn.functional.linear(gt.tensor([1.0, 2.0]), gt.tensor([[1.0, 1.0], [0.0, 3.0], [0.0, 0.0]]), [0.0, 0.0, 5.0])
    Tensor([3., 6., 5.])
    """
    input, weight = as_value(input), as_value(weight)
    if weight.ndim not in (1, 2) or not input.ndim or input.shape[-1] != weight.shape[-1]:
        fix = f"the last axis of input and of weight of the same length{_turned(input, weight)}"
        raise argument_error(
            ShapeError,
            f"linear: input has shape {input.shape}, weight has shape {weight.shape}; (..., in features) and "
            "(out features, in features) are accepted.",
            fix,
        )
    out = matmul(input, weight.T if weight.ndim == 2 else weight)
    if bias is None:
        return out
    bias = as_value(bias)
    if bias.shape != weight.shape[:-1]:
        raise argument_error(
            ShapeError,
            f"linear: bias has shape {bias.shape}; one number for each output feature, {weight.shape[:-1]}, is "
            "accepted.",
            f"a bias of shape {weight.shape[:-1]}",
        )
    return out + bias


def _turned(input: Array, weight: Array) -> str:
    fits = weight.ndim == 2 and input.ndim and input.shape[-1] == weight.shape[0]
    return "; weight.T fits" if fits else ""


def bilinear(input1: TensorLike, input2: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Any:
    """The sum over i and j of input1[..., i] * weight[out, i, j] * input2[..., j], plus bias.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.bilinear(gt.tensor([1.0, 2.0]), gt.tensor([3.0, 4.0]), np.eye(2)[None])
    Tensor([11.])
    """
    input1, input2, weight = as_value(input1), as_value(input2), as_value(weight)
    wanted = (*input1.shape[-1:], *input2.shape[-1:])
    if weight.ndim != 3 or weight.shape[1:] != wanted or input1.shape[:-1] != input2.shape[:-1]:
        raise argument_error(
            ShapeError,
            f"bilinear: input1 has shape {input1.shape}, input2 {input2.shape} and weight {weight.shape}; (..., i), "
            "(..., j) and (out features, i, j) are accepted.",
            "inputs that differ in their last axis only, and a weight that fits both",
        )
    out = einsum("...i,oij,...j->...o", input1, weight, input2)
    if bias is None:
        return out
    bias = as_value(bias)
    if bias.shape != weight.shape[:1]:
        raise argument_error(
            ShapeError,
            f"bilinear: bias has shape {bias.shape}; one number for each output feature, {weight.shape[:1]}, is "
            "accepted.",
            f"a bias of shape {weight.shape[:1]}",
        )
    return out + bias


# -- embedding: rows of a table, and their transpose: adding rows up


def _add_rows_kernel(x: Array, positions: Array, length: int) -> Any:
    """Rows added up where they came from: sorted by place, so that each place is one sum."""
    width = x.shape[positions.ndim :]
    out = np.zeros((length, *width), x.dtype)
    places = positions.reshape(-1)
    if places.size:
        order = np.argsort(places, kind="stable")
        places = places[order]
        starts = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
        out[places[starts]] = np.add.reduceat(x.reshape((-1, *width))[order], starts, axis=0)
    return out


def _batch_rows(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The tables of all examples one under the other."""
    table, positions = values
    if not flags[0]:
        return apply(op, (table, positions), params)
    size, length = table.shape[:2]
    return apply(
        op, (table.reshape((size * length, *table.shape[2:])), _shifted(positions, flags[1], size, length)), {}
    )


def _batch_add_rows(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    rows, positions = values
    size, length = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag), params["length"]
    if not flags[0]:
        rows = np.broadcast_to(rows, (size, *rows.shape))
    out = apply(op, (rows, _shifted(positions, flags[1], size, length)), {"length": size * length})
    return out.reshape((size, length, *out.shape[1:]))


def _shifted(positions: Array, batched: bool, size: int, length: int) -> Any:
    return positions + length * np.arange(size).reshape((-1,) + (1,) * (positions.ndim - batched))


_POSITIONS = np.array([[0, 2], [2, 1]])

_rows: Op = linear_row(
    lambda x, positions: x[positions],
    lambda g, x, positions: _add_rows(g, positions, length=x.shape[0]),
    None,
    name="rows of a table",
    names=("x", "positions"),
    batch=_batch_rows,
    samples=lambda draw: [
        ((draw(3, 2), _POSITIONS), {}),
        ((draw(3, 2, 2), np.array(1)), {}),
        ((draw(3), _POSITIONS), {}),
    ],
)
_add_rows: Op = linear_row(
    _add_rows_kernel,
    lambda g, positions: _rows(g, positions),
    None,
    name="rows added up",
    names=("x", "positions"),
    batch=_batch_add_rows,
    samples=lambda draw: [
        ((draw(2, 2, 3), _POSITIONS), {"length": 3}),
        ((draw(2), np.array(1)), {"length": 3}),
        ((draw(0, 2), np.zeros(0, int)), {"length": 3}),
    ],
)


def embedding(input: TensorLike, weight: TensorLike, padding_idx: int | None = None) -> Any:
    """The rows of `weight` at the integers in `input`. The row `padding_idx` is read, and gets no gradient.

    >>> import numpy as np, gradtape as gt
    >>> table = gt.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> gt.nn.functional.embedding([1, 0, 1], table).shape
    (3, 2)
    >>> gt.grad(lambda table: gt.nn.functional.embedding([1, 0, 1], table, padding_idx=0).sum())(table)
    Tensor([[0., 0.],
            [2., 2.]])
    """
    weight = as_value(weight)
    if not weight.ndim:
        raise argument_error(ShapeError, "embedding: weight is a single number.", "a table with a row for each integer")
    rows = weight.shape[0]
    positions = checked_labels(input, rows, "embedding", "input")
    out = _rows(weight, positions)
    if padding_idx is None:
        return out
    skipped = operator.index(padding_idx)
    if not -rows <= skipped < rows:
        raise argument_error(
            OperandError,
            f"embedding: padding_idx={padding_idx!r}, but weight of shape {weight.shape} has {rows} rows.",
            f"a row from {-rows} to {rows - 1}",
        )
    padding = (positions == skipped % rows).reshape((*positions.shape, *(1,) * (weight.ndim - 1)))
    return where(padding, stop_gradient(out), out)


# -- dropout


def _kept_kernel(x: Array, rng: np.random.Generator, shape: tuple[int, ...], p: float) -> Any:
    return rng.random(shape, dtype=np.float32) >= p


def _batch_kept(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """One draw for all examples."""
    return broadcast_to(apply(op, tuple(values), params), (values[0].shape[0], *params["shape"]))


# what is dropped from `x` is drawn by an operation, so that a compiled program draws anew in every run
_kept = Op("random.dropout", _kept_kernel, batch=_batch_kept, kind="constant")


def _mask(name: str, input: Array, shape: tuple[int, ...], p: float, training: bool, rng: Any) -> Any:
    """What to multiply `input` with: 0 with probability `p`, 1 / (1 - p) otherwise; None for nothing."""
    if not 0 <= p <= 1:
        raise argument_error(OperandError, f"{name}: p={p!r}.", "a probability between 0 and 1")
    if not training or p == 0:
        return None
    if not isinstance(rng, np.random.Generator):
        raise argument_error(
            OperandError,
            f"{name}: rng is {'missing' if rng is None else f'a {type(rng).__name__}'}; training draws at random, from "
            "a NumPy generator.",
            "rng=np.random.default_rng(seed), made once and passed at every call",
        )
    given = input if isinstance(input, Lifted) else plain(input)
    kept = apply(_kept, (given,), {"rng": rng, "shape": shape, "p": p})
    return kept * np.asarray(0 if p == 1 else 1 / (1 - p), input.dtype)


def dropout(input: TensorLike, p: float = 0.5, training: bool = True, rng: Any = None) -> Any:
    """When `training`, each element is 0 with probability `p`, and what is left is divided by 1 - p.

    Drawn from the NumPy generator `rng`. Inside `vmap` all examples share what is drawn.

    >>> import numpy as np, gradtape as gt
    >>> out = gt.nn.functional.dropout(gt.tensor(np.ones(1000)), 0.25, rng=np.random.default_rng(0))
    >>> np.unique(out.numpy()).round(4)
    array([0.    , 1.3333])
    >>> gt.nn.functional.dropout(gt.tensor([1.0, 2.0]), training=False)
    Tensor([1., 2.])
    """
    return _dropout("dropout", input, p, training, rng, None)


def _dropout(name: str, input: TensorLike, p: float, training: bool, rng: Any, axes: int | None) -> Any:
    input = as_value(input)
    if input.dtype.kind not in "fc":
        input = input.astype(float)
    shape = input.shape
    if axes is not None:
        if input.ndim not in (axes + 1, axes + 2):
            raise argument_error(
                ShapeError,
                f"{name}: input has shape {input.shape}; (examples, channels{', length' * axes}) is accepted, or the "
                "same without examples.",
                "dropout, for single elements",
            )
        shape = (*input.shape[:-axes], *(1,) * axes)
    mask = _mask(name, input, shape, p, training, rng)
    return input if mask is None else input * mask


def dropout1d(input: TensorLike, p: float = 0.5, training: bool = True, rng: Any = None) -> Any:
    """`dropout` of whole channels of signals (examples, channels, length).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.dropout1d(gt.tensor(np.ones((2, 3, 4))), rng=np.random.default_rng(0)).shape
    (2, 3, 4)
    """
    return _dropout("dropout1d", input, p, training, rng, 1)


def dropout2d(input: TensorLike, p: float = 0.5, training: bool = True, rng: Any = None) -> Any:
    """`dropout` of whole channels of images (examples, channels, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.dropout2d(gt.tensor(np.ones((2, 3, 4, 4))), rng=np.random.default_rng(0)).shape
    (2, 3, 4, 4)
    """
    return _dropout("dropout2d", input, p, training, rng, 2)


def dropout3d(input: TensorLike, p: float = 0.5, training: bool = True, rng: Any = None) -> Any:
    """`dropout` of whole channels of volumes (examples, channels, depth, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.dropout3d(gt.tensor(np.ones((2, 3, 4, 4, 4))), rng=np.random.default_rng(0)).shape
    (2, 3, 4, 4, 4)
    """
    return _dropout("dropout3d", input, p, training, rng, 3)

"""The classes of `scipy.sparse`: with tensors among the arguments they make matrices of tensors, else SciPy's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import Tensor, argument_error, as_value, may_record
from gradtape.mirror import holds_tensor
from gradtape.ops.creation_from import asarray
from gradtape.ops.sparse_products import Pattern, pattern_of
from gradtape.scipy.sparse.matrices import FORMATS, SparseTensor, from_dense


def holds_ours(values: Iterable[Any]) -> bool:
    """Whether there is a tensor or a sparse matrix of tensors among values, or in lists, tuples and dicts of them."""
    for value in values:
        if isinstance(value, (Tensor, SparseTensor)):
            return True
        if isinstance(value, (list, tuple)) and holds_ours(value):
            return True
        if isinstance(value, dict) and holds_ours(value.values()):
            return True
        if isinstance(value, np.ndarray) and value.dtype == object and holds_ours(value.ravel().tolist()):
            return True
    return False


def as_dense(x: Any) -> Any:
    """A tensor, an array or nested lists of numbers and tensors as a tensor or an array."""
    return asarray(x) if isinstance(x, (list, tuple)) and holds_tensor(x) else as_value(x)


def made_of(
    format: str, is_matrix: bool, given: Any, shape: Any = None, dtype: Any = None, **more: Any
) -> SparseTensor:
    """The sparse matrix of tensors that the class of SciPy's with this format would make of its arguments."""
    made = _made(format, is_matrix, given, None if shape is None else tuple(int(n) for n in shape), more)
    if shape is not None and made.shape != tuple(shape):
        raise argument_error(ShapeError, f"shape={shape} for values of shape {made.shape}.", "the shape of the values")
    made = made.copy() if more.get("copy") else made
    return made if dtype is None else made.astype(dtype)


def _made(format: str, is_matrix: bool, given: Any, shape: Any, more: dict[str, Any]) -> SparseTensor:
    if isinstance(given, SparseTensor):
        made = SparseTensor(given.values, given.pattern, given.format, is_matrix, given.blocksize)
        return made.tobsr(more.get("blocksize")) if format == "bsr" and given.format != "bsr" else made.asformat(format)
    if not isinstance(given, tuple):
        return from_dense(as_dense(given), format, is_matrix)
    if len(given) == 3 and format in ("csr", "csc", "bsr"):
        return _compressed(format, is_matrix, given, shape)
    if len(given) == 2 and format == "dia":
        return _from_diagonals(is_matrix, given, shape)
    if len(given) == 2 and isinstance(given[1], (tuple, list)) and len(given[1]) == 2:
        data, (rows, columns) = given
        data, rows, columns = as_dense(data), _whole(rows, "row"), _whole(columns, "col")
        if data.ndim != 1 or not len(rows) == len(columns) == data.shape[0]:
            raise argument_error(
                ShapeError,
                f"{format}: {data.shape} values at {len(rows)} rows and {len(columns)} columns.",
                "one row and one column for each value",
            )
        if shape is None:
            shape = (int(np.max(rows, initial=-1)) + 1, int(np.max(columns, initial=-1)) + 1)
        _check_inside(rows, columns, shape)
        return SparseTensor(data, Pattern(rows, columns, shape), "coo", is_matrix).asformat(format)
    raise argument_error(
        OperandError,
        f"{format}: a tuple of {len(given)} parts with a tensor among them.",
        "(data, (row, col)); for csr, csc and bsr (data, indices, indptr); for dia (data, offsets)",
    )


def _whole(x: Any, name: str) -> Any:
    from gradtape.extend import plain

    numbers = np.asarray(plain(x) if isinstance(x, Tensor) else x)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise argument_error(OperandError, f"{name} has dtype {numbers.dtype}.", "whole numbers")
    return numbers.astype(np.intp).reshape(-1)


def _check_inside(rows: Any, columns: Any, shape: tuple[int, int]) -> None:
    for name, numbers, length in (("row", rows, shape[0]), ("column", columns, shape[1])):
        if numbers.size and (np.min(numbers) < 0 or np.max(numbers) >= length):
            worst = int(np.max(numbers)) if np.max(numbers) >= length else int(np.min(numbers))
            raise argument_error(
                ShapeError, f"{name} {worst} of a matrix of shape {shape}.", "indices within the shape"
            )


def _compressed(format: str, is_matrix: bool, given: Any, shape: Any) -> SparseTensor:
    data, indices, starts = as_dense(given[0]), _whole(given[1], "indices"), _whole(given[2], "indptr")
    height, width = data.shape[1:] if format == "bsr" else (1, 1)
    if len(starts) < 1 or starts[0] != 0 or np.any(np.diff(starts) < 0) or not starts[-1] <= len(indices):
        raise argument_error(
            OperandError, f"{format}: indptr of {len(starts)} numbers.", "it grows from 0 to len(data)"
        )
    count = int(starts[-1])
    if data.shape[0] < count:
        raise argument_error(ShapeError, f"{format}: {data.shape[0]} values for {count} places.", "a value for each")
    data, indices = data[:count], indices[:count]
    along = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if shape is None:
        across = int(np.max(indices, initial=-1)) + 1
        lengths = (len(starts) - 1, across) if format != "csc" else (across, len(starts) - 1)
        shape = (lengths[0] * height, lengths[1] * width)
    rows, columns = (indices, along) if format == "csc" else (along, indices)
    if format == "bsr":
        down, right = np.indices((height, width)).reshape(2, -1)
        rows = (rows[:, None] * height + down).reshape(-1)
        columns = (columns[:, None] * width + right).reshape(-1)
        data = data.reshape((-1,))
    _check_inside(rows, columns, shape)
    return SparseTensor(data, Pattern(rows, columns, shape), format, is_matrix, (height, width))


def _from_diagonals(is_matrix: bool, given: Any, shape: Any) -> SparseTensor:
    data, offsets = as_dense(given[0]), _whole(given[1], "offsets")
    data = data[None, :] if data.ndim == 1 else data
    if shape is None:
        raise argument_error(ShapeError, "dia: no shape.", "shape=(rows, columns)")
    if data.shape[0] != len(offsets) or len(np.unique(offsets)) != len(offsets):
        raise argument_error(
            OperandError, f"dia: {data.shape[0]} diagonals with offsets {offsets.tolist()}.", "one offset for each"
        )
    columns = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    rows = columns - offsets[:, None]
    inside = (rows >= 0) & (rows < shape[0]) & (columns < shape[1])
    diagonal, place = np.nonzero(inside)
    return SparseTensor(data[diagonal, place], Pattern(rows[inside], columns[inside], shape), "dia", is_matrix)


FILLED = ("lil", "dok")
"""The formats that are made empty and filled element by element."""


def writable(matrix: Any, format: str) -> SparseTensor:
    """A matrix of SciPy's that tensors may be written to."""
    values, pattern = pattern_of(matrix.tocsr())
    return SparseTensor(values, pattern, format, isinstance(matrix, scipy.sparse.spmatrix))


class SparseClass(type):
    """The class of the classes: what they make, and what their instances are."""

    theirs: Any
    format: str
    is_matrix: bool

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not holds_ours((args, kwargs)):
            made = cls.theirs(*args, **kwargs)
            is_filled_later = cls.format in FILLED and may_record() and made.ndim == 2 and made.dtype.kind in "fc"
            return writable(made, cls.format) if is_filled_later else made
        names = ("given", "shape", "dtype", "copy")
        options = {**dict(zip(names, args, strict=False)), **kwargs}
        if "arg1" in options:
            options["given"] = options.pop("arg1")
        for ignored in ("copy", "maxprint"):
            options.pop(ignored, None)
        return made_of(cls.format, cls.is_matrix, **options)

    def __instancecheck__(cls, x: Any) -> bool:
        if isinstance(x, SparseTensor):
            return cls.format in ("", x.format) and cls.is_matrix == x.is_matrix
        return isinstance(x, cls.theirs)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(getattr(other, "theirs", other), cls.theirs)


def _class(name: str, format: str, is_matrix: bool) -> Any:
    theirs = getattr(scipy.sparse, name)
    doc = f"`scipy.sparse.{name}`; of tensors, if the values or the matrix that are given are."
    members = {"theirs": theirs, "format": format, "is_matrix": is_matrix, "__doc__": doc, "__module__": __name__}
    return SparseClass(name, (), members)


CLASSES = {
    **{f"{format}_array": _class(f"{format}_array", format, False) for format in FORMATS},
    **{f"{format}_matrix": _class(f"{format}_matrix", format, True) for format in FORMATS},
    "sparray": _class("sparray", "", False),
    "spmatrix": _class("spmatrix", "", True),
}
"""The classes by their names."""

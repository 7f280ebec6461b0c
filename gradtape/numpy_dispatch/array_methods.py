"""The methods of NumPy's arrays, with their arguments in NumPy's order.

Each calls one operation; what few programs use by the name that it has in NumPy, which finds it when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.location import Location
from gradtape.core.views import is_shared
from gradtape.errors import DtypeError, MutationError, OperandError
from gradtape.explain import messages

if TYPE_CHECKING:
    from gradtape import ops


def bind(operations: ModuleType) -> None:
    """Say where the operations are, now that they exist."""
    globals()["ops"] = operations


class FlatElements:
    """The elements of a tensor as `ndarray.flat` has them: an iterator that takes indices."""

    def __init__(self, tensor: Any) -> None:
        self.base = tensor
        self._elements: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.base.ravel())

    def __next__(self) -> Any:
        if self._elements is None:
            self._elements = iter(self)
        return next(self._elements)

    def __len__(self) -> int:
        return int(self.base.size)

    def __getitem__(self, index: Any) -> Any:
        return self.base.ravel()[index].copy()

    def __setitem__(self, index: Any, value: Any) -> None:
        elements = self.base.ravel().copy()  # whatever order the elements have in memory
        places = np.arange(len(self))[index]
        values = ops.ravel(np.asarray(value, like=self.base))
        if values.size != 1:  # the numbers are repeated until all are written
            values = np.reshape(np.resize(values, places.size), places.shape)
        elements[index] = values
        self.base[...] = elements.reshape(self.base.shape)

    def copy(self) -> Any:
        """All elements as a tensor of one axis."""
        return self.base.flatten()


class ArrayMethods:
    """What `x.sum()`, `x[i]` and `x.sort()` do."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> np.dtype[Any]: ...
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...

        _replace: Callable[..., Any]
        _leave: Callable[[str], Any]
        _concrete: Callable[[], Any]

    # -- elements

    def __getitem__(self, index: Any) -> Any:
        return ops.getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        tensor: Any = self
        ops.indexed_update.set_in_place(tensor, index, value)

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise OperandError(f"iteration over a tensor of shape ().\n{Location.here().show()}\n  fix: x.item()")
        return (ops.getitem(self, i) for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def take(self, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
        """The elements, or slices along `axis`, at `indices`."""
        return ops.take(self, indices, axis, out, mode)

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """The elements, or slices along `axis`, where a vector of booleans holds."""
        return np.compress(condition, self, axis, out)

    def choose(self, choices: Any, out: Any = None, mode: str = "raise") -> Any:
        """For each of these integers, the element that stands there in the choice of that number."""
        return np.choose(self, choices, out, mode)  # type: ignore[call-overload]

    def nonzero(self) -> tuple[Any, ...]:
        """The positions of the elements that are not zero, an array for each axis."""
        return ops.nonzero(self)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Where the elements of `v` would have to be put into this sorted vector."""
        return np.searchsorted(self, v, side, sorter)  # type: ignore[call-overload]

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of all elements. The gradient does not follow them."""
        found: bytes = self._leave(".tobytes()").tobytes(order)
        return found

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the numbers to a file. The gradient does not follow them."""
        self._leave(".tofile()").tofile(fid, sep, format)

    def dump(self, file: Any) -> None:
        """Write the array to a file by `pickle`. The gradient does not follow it."""
        self._leave(".dump()").dump(file)

    def dumps(self) -> bytes:
        """The array as the bytes that `pickle` makes of it. The gradient does not follow them."""
        found: bytes = self._leave(".dumps()").dumps()
        return found

    def __bytes__(self) -> bytes:
        found: bytes = self._leave("bytes()").tobytes()
        return found

    # -- elements written in place

    def fill(self, value: Any) -> None:
        """Write one number everywhere."""
        if np.ndim(value):
            raise messages.refused_argument(
                OperandError, f"fill: a value of shape {np.shape(value)}.", "x[...] = value"
            )
        self[...] = value

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Write `values` at places of the flattened tensor."""
        np.put(self, indices, values, mode)  # type: ignore[arg-type]

    def sort(
        self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
    ) -> None:
        """Sort along `axis`, in place; each element keeps its gradient. `gt.sort(x)` is a new tensor."""
        self._replace(ops.sort(self, axis, kind, order, stable=stable, descending=descending), "x.sort()")

    def partition(self, kth: Any, axis: int = -1, kind: Any = "introselect", order: Any = None) -> None:
        """Put what stands at `kth` when sorted there, smaller elements before it and larger ones behind, in place."""
        self._replace(np.partition(self, kth, axis, kind, order), "x.partition()")

    # -- shape

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return ops.transpose(self)

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        return ops.matrix_transpose(self)

    @property
    def real(self) -> Any:
        """The real part, which can be written to."""
        return ops.real(self)

    @real.setter
    def real(self, values: Any) -> None:
        self.real[...] = values

    @property
    def imag(self) -> Any:
        """The imaginary part, which can be written to if the numbers are complex."""
        return ops.imag(self)

    @imag.setter
    def imag(self, values: Any) -> None:
        if self.dtype.kind != "c":
            raise messages.refused_argument(
                DtypeError, f"x.imag = ... of a tensor of dtype {self.dtype}.", "x = x.astype(complex) before"
            )
        self.imag[...] = values

    @property
    def flat(self) -> FlatElements:
        """All elements, one after the other; they can be picked by an index, and written to."""
        return FlatElements(self)

    @flat.setter
    def flat(self, values: Any) -> None:
        self.flat[:] = values

    @property
    def flags(self) -> Any:
        """How the elements lie in memory, as `ndarray.flags` says it."""
        return self._concrete().flags

    @property
    def strides(self) -> tuple[int, ...]:
        """How many bytes it is from one element to the next, along each axis."""
        strides: tuple[int, ...] = self._concrete().strides
        return strides

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        """The same elements in another shape."""
        return ops.reshape(self, shape[0] if len(shape) == 1 else shape, order=order, copy=copy)

    def _set_shape(self, lengths: Any) -> None:
        """`x.shape = lengths`, of a tensor that shares its memory with no other."""
        tensor: Any = self
        if is_shared(tensor):
            what = "x.shape = ... of a tensor that is a view, or that has views."
            raise messages.refused_argument(MutationError, what, "x = x.reshape(shape)")
        tensor._check_writable("x.shape = ...")
        tensor._become(ops.reshape(self, lengths, copy=True))

    def ravel(self, order: str = "C") -> Any:
        """The same elements along one axis."""
        return ops.ravel(self, order)

    def flatten(self, order: str = "C") -> Any:
        """The same elements along one axis, as a copy."""
        return ops.identity(ops.ravel(self, order))

    def view(self, *given: Any, **named: Any) -> Any:
        """The same numbers in the same memory, as another tensor; complex numbers also as pairs of real ones."""
        dtype = (*given, *(kind for name, kind in named.items() if name == "dtype"))
        if not dtype:
            return ops.reshape(self, self.shape)
        kind = dtype[0] if len(dtype) == 1 else None
        if isinstance(kind, str | np.dtype) or (
            isinstance(kind, type) and issubclass(kind, float | complex | np.generic)
        ):
            viewed = ops.shaping.view_as(self, kind)
            if viewed is not None:
                return viewed
        lengths = dtype[0] if len(dtype) == 1 and isinstance(dtype[0], list | tuple) else dtype
        if all(isinstance(n, int | np.integer) for n in lengths):
            fix = f"x.reshape({', '.join(map(str, lengths))})"
        else:
            fix = "x.astype(dtype) converts the numbers; x.numpy().view(dtype) reads the bytes, without a gradient"
        shown = ", ".join(map(repr, dtype))
        raise messages.refused_argument(
            OperandError, f"view({shown}): only views of complex numbers as pairs of real ones.", fix
        )

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order (reversed by default)."""
        return ops.transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Two axes exchanged."""
        return ops.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: Any = None) -> Any:
        """Without axes of length 1 (all of them, or those in `axis`)."""
        return ops.squeeze(self, axis)

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Each element, or slice along `axis`, repeated."""
        return ops.repeat(self, repeats, axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """The diagonal of two axes, along a last axis."""
        return ops.diagonal(self, offset, axis1, axis2)

    # -- values

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """The same numbers in another dtype; a gradient passes between floating point types only."""
        if casting != "unsafe" and not np.can_cast(self.dtype, dtype, casting):
            raise messages.refused_argument(
                OperandError, f"astype: from {self.dtype} to {np.dtype(dtype)} with casting={casting!r}.", "'unsafe'"
            )
        made = ops.astype(self, dtype, copy)
        return made if order == "K" else np.asarray(made, order=order, like=made)

    def copy(self, order: str = "C") -> Any:
        """A new tensor with the same value; the gradient passes."""
        return ops.copy(self, order)

    def conj(self) -> Any:
        """The complex conjugate; real numbers are the tensor itself, as in NumPy."""
        return ops.conjugate(self) if self.dtype.kind == "c" else self

    def conjugate(self) -> Any:
        """The complex conjugate."""
        return self.conj()

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """Rounded to `decimals` places; no gradient passes."""
        return ops.round(self, decimals, out)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """Limited to the range from `min` to `max`."""
        return ops.clip(self, min, max, out)

    def detach(self) -> Any:
        """The same value, off every tape. `why` will name this line.

        >>> import gradtape as gt
        >>> gt.tensor(1.0, requires_grad=True).detach().requires_grad
        False
        """
        return ops.stop_gradient(self)

    # -- reductions

    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The sum along `axis`."""
        return ops.sum(self, axis, dtype, out, keepdims, initial, where)

    def mean(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
    ) -> Any:
        """The mean along `axis`."""
        return ops.mean(self, axis, dtype, out, keepdims, where=where)

    def prod(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The product along `axis`."""
        return ops.prod(self, axis, dtype, out, keepdims, initial, where)

    def var(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
        correction: float | None = None,
    ) -> Any:
        """The variance along `axis`."""
        return ops.var(self, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)

    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
        correction: float | None = None,
    ) -> Any:
        """The standard deviation along `axis`."""
        return ops.std(self, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)

    def max(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        """The largest element along `axis`; tied ones share its gradient."""
        return ops.max(self, axis, out, keepdims, initial, where)

    def min(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        """The smallest element along `axis`; tied ones share its gradient."""
        return ops.min(self, axis, out, keepdims, initial, where)

    def ptp(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The largest minus the smallest element along `axis`."""
        return ops.ptp(self, axis, out, keepdims)

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """The position of the largest element; positions have no gradient."""
        return ops.argmax(self, axis, out, keepdims=keepdims)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """The position of the smallest element; positions have no gradient."""
        return ops.argmin(self, axis, out, keepdims=keepdims)

    def argsort(
        self, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
    ) -> Any:
        """The positions that would sort along `axis`; positions have no gradient."""
        return ops.argsort(self, axis, kind, order, stable=stable, descending=descending)

    def argpartition(self, kth: Any, axis: int | None = -1, kind: Any = "introselect", order: Any = None) -> Any:
        """The positions that would partition along `axis`; positions have no gradient."""
        return np.argpartition(self, kth, axis, kind, order)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
        """Whether all elements along `axis` are true."""
        return ops.all(self, axis, out, keepdims, where=where)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
        """Whether any element along `axis` is true."""
        return ops.any(self, axis, out, keepdims, where=where)

    def cumsum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Running sums along `axis`."""
        return ops.cumsum(self, axis, dtype, out)

    def cumprod(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Running products along `axis`."""
        return ops.cumprod(self, axis, dtype, out)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
        """The sum of a diagonal."""
        return ops.trace(self, offset, axis1, axis2, dtype, out)

    def dot(self, b: Any, out: Any = None) -> Any:
        """The product with `b`, as `np.dot`."""
        return ops.dot(self, b, out)

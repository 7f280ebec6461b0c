"""What can be written with tensors: the operators, and the methods of NumPy arrays.

Each calls one operation. Operations are themselves made of tensors, so they are bound here when the table is complete.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.location import Location
from gradtape.errors import OperandError

if TYPE_CHECKING:
    from gradtape import ops, protocols
    from gradtape.core.operation import Op, apply
    from gradtape.core.tensor import Tensor

_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
NO_PARAMS: dict[str, Any] = {}
ufuncs: dict[np.ufunc, Op] = {}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def bind(operations: ModuleType) -> None:
    """Give tensors their operators, now that the operations exist."""
    from gradtape import protocols
    from gradtape.core.operation import apply
    from gradtape.core.tensor import Tensor, Variable
    from gradtape.ops.writing import writes_element
    from gradtape.protocols import accepts

    globals().update(ops=operations, protocols=protocols, ufuncs=protocols.UFUNCS, apply=apply)
    quick = frozenset({Tensor, Variable, float, int, np.ndarray, np.float64, np.float32})

    def binary(op: Op) -> tuple[Any, Any, Any]:
        def operator(self: Any, other: Any) -> Any:
            kind = type(other)
            if kind is float or kind is Tensor or kind in quick or accepts(other):
                return apply(op, (self, other), NO_PARAMS)
            return NotImplemented

        def reflected(self: Any, other: Any) -> Any:
            if type(other) in quick or accepts(other):
                return apply(op, (other, self), NO_PARAMS)
            return NotImplemented

        def in_place(self: Any, other: Any) -> Any:
            if accepts(other):
                new = apply(op, (self, other), NO_PARAMS)
                if self._has_views() and new.shape == self.shape and writes_element(sys._getframe(1)):
                    return new  # `x[i] += y`, which writes it into x next
                return self._replace(new, f"{op.name} in place")
            return NotImplemented

        return operator, reflected, in_place

    def unary(op: Op) -> Any:
        return lambda self: apply(op, (self,), NO_PARAMS)

    for name, function in _OPERATORS.items():
        methods = binary(getattr(operations, function))
        for prefix, method in zip(("", "r", "i"), methods, strict=True):
            setattr(TensorMethods, f"__{prefix}{name}__", method)
    for name, function in _COMPARISONS.items():
        setattr(TensorMethods, f"__{name}__", binary(getattr(operations, function))[0])
    for name, function in _UNARY.items():
        setattr(TensorMethods, f"__{name}__", unary(getattr(operations, function)))


class TensorMethods:
    """The operators and methods of a tensor, as NumPy has them."""

    __slots__ = ()
    __array_priority__ = 1000.0

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> np.dtype[Any]: ...

        _replace: Callable[..., Any]

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not kwargs and method == "__call__" and len(inputs) == 1:
            op = ufuncs.get(ufunc)
            if op is not None:
                return apply(op, inputs, NO_PARAMS)
        return protocols.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return protocols.array_function(function, types, args, kwargs)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __round__(self, decimals: int = 0) -> Any:
        return ops.round(self, decimals)

    # -- elements

    def __getitem__(self, index: Any) -> Any:
        return ops.getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._replace(ops.at(self)[index].set(value), "x[...] = value")

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise OperandError(f"iteration over a tensor of shape ().\n{Location.here().show()}\n  fix: x.item()")
        return (ops.getitem(self, i) for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def take(self, indices: Any, axis: int | None = None) -> Any:
        """The elements, or slices along `axis`, at `indices`."""
        return ops.take(self, indices, axis)

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
        """The real part."""
        return ops.real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return ops.imag(self)

    @property
    def flat(self) -> Iterator[Any]:
        """All elements, one after the other."""
        return iter(self.ravel())

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """The same elements in another shape."""
        return ops.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)

    def ravel(self, order: str = "C") -> Any:
        """The same elements along one axis."""
        return ops.reshape(self, (-1,), order=order)

    def flatten(self, order: str = "C") -> Any:
        """The same elements along one axis."""
        return ops.reshape(self, (-1,), order=order)

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order (reversed by default)."""
        return ops.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)

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

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The same numbers in another dtype; a gradient passes between floating point types only."""
        return ops.astype(self, dtype, copy)

    def copy(self) -> Any:
        """A new tensor with the same value; the gradient passes."""
        return ops.positive(self) if self.dtype.kind != "b" else ops.stop_gradient(self)

    def conj(self) -> Any:
        """The complex conjugate."""
        return ops.conjugate(self)

    def conjugate(self) -> Any:
        """The complex conjugate."""
        return ops.conjugate(self)

    def round(self, decimals: int = 0) -> Any:
        """Rounded to `decimals` places; no gradient passes."""
        return ops.round(self, decimals)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Limited to the range from `min` to `max`."""
        return ops.clip(self, min, max)

    def detach(self) -> Any:
        """The same value, off every tape. `why` will name this line.

        >>> import gradtape as gt
        >>> gt.tensor(1.0, requires_grad=True).detach().requires_grad
        False
        """
        return ops.stop_gradient(self)

    # -- reductions

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """The sum along `axis`."""
        return ops.sum(self, axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """The mean along `axis`."""
        return ops.mean(self, axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """The product along `axis`."""
        return ops.prod(self, axis, dtype=dtype, keepdims=keepdims)

    def var(self, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        """The variance along `axis`."""
        return ops.var(self, axis, ddof=ddof, keepdims=keepdims)

    def std(self, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        """The standard deviation along `axis`."""
        return ops.std(self, axis, ddof=ddof, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The largest element along `axis`; tied ones share its gradient."""
        return ops.max(self, axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The smallest element along `axis`; tied ones share its gradient."""
        return ops.min(self, axis, keepdims=keepdims)

    def ptp(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The largest minus the smallest element along `axis`."""
        return ops.max(self, axis, keepdims=keepdims) - ops.min(self, axis, keepdims=keepdims)

    def argmax(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The position of the largest element; positions have no gradient."""
        return ops.argmax(self, axis, keepdims=keepdims)

    def argmin(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The position of the smallest element; positions have no gradient."""
        return ops.argmin(self, axis, keepdims=keepdims)

    def argsort(self, axis: int = -1) -> Any:
        """The positions that would sort along `axis`; positions have no gradient."""
        return ops.argsort(self, axis)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether all elements along `axis` are true."""
        return ops.all(self, axis, keepdims=keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether any element along `axis` is true."""
        return ops.any(self, axis, keepdims=keepdims)

    def cumsum(self, axis: int | None = None) -> Any:
        """Running sums along `axis`."""
        return ops.cumsum(self, axis)

    def cumprod(self, axis: int | None = None) -> Any:
        """Running products along `axis`."""
        return ops.cumprod(self, axis)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """The sum of a diagonal."""
        return ops.trace(self, offset, axis1, axis2)

    def dot(self, other: Any) -> Any:
        """The product with `other`, as `np.dot`."""
        return ops.dot(self, other)

    # -- other libraries

    @property
    def device(self) -> str:
        """Where the numbers are: always on the CPU."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The tensor itself: there is only one device, "cpu"."""
        from gradtape.array_api.arguments import check_device

        check_device(device, "to_device")
        return self

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        from gradtape.array_api.info import namespace

        return namespace(api_version)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        from gradtape.interchange import export

        return export(self, stream, max_version, dl_device, copy)  # type: ignore[arg-type]

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def _repr_html_(self) -> str:
        from gradtape.notebooks import tensor_html

        return tensor_html(self)  # type: ignore[arg-type]

    # -- gradients

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to the `.grad` of the leaves it was computed from.

        One element needs no `gradient`; more need one of the same shape. The graph is freed, unless `retain_graph`;
        with `create_graph` the gradients can be differentiated again; `inputs` limits which leaves receive one.

        >>> import gradtape as gt
        >>> w = gt.tensor([1.0, 2.0], requires_grad=True)
        >>> (w * w).sum().backward()
        >>> w.grad
        Tensor([2., 4.])
        """
        from gradtape.core.backward import backward

        backward(self, gradient, retain_graph, create_graph, inputs)  # type: ignore[arg-type]

    def register_hook(self, hook: Callable[[Any], Any]) -> Callable[[], None]:
        """Call `hook` with every gradient that arrives here; see `gradtape.core.backward.register_hook`."""
        from gradtape.core.backward import register_hook

        return register_hook(self, hook)  # type: ignore[arg-type]

    def retain_grad(self) -> None:
        """Keep `.grad` of this computed tensor too when `.backward()` passes it."""
        from gradtape.core.backward import retain_grad

        retain_grad(self)  # type: ignore[arg-type]

"""What can be written with tensors: the operators, NumPy's protocols, and what gradients and other libraries need.

Each calls one operation. Operations are themselves made of tensors, so they are bound here when the table is complete.
The methods of NumPy arrays are in `gradtape.numpy_dispatch.array_methods`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.references import COUNTS_LOCALS
from gradtape.errors import OperandError
from gradtape.explain import messages
from gradtape.numpy_dispatch import array_methods

if TYPE_CHECKING:
    from gradtape import ops
    from gradtape.core.operation import Op
    from gradtape.core.tensor import Tensor
    from gradtape.numpy_dispatch import protocols

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
ufuncs: dict[np.ufunc, Op] = {}
quick: frozenset[type] = frozenset()  # kinds of operands that need not be looked at any closer
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def _references_of_operand() -> int:
    """How many references an operator in place counts for its operand `x[i]`, if only the stack holds that."""

    class Operand:
        def __iadd__(self, other: Any) -> Any:
            return sys.getrefcount(self)

    class Container:
        def __getitem__(self, index: int) -> Any:
            return Operand()

        def __setitem__(self, index: int, value: int) -> None:
            self.references = value

    container = Container()
    container[0] += 0
    return container.references


_REFERENCES_OF_OPERAND = _references_of_operand()


_OTHER_NUMBERS = frozenset({"fractions", "decimal"})
"""The modules of the standard library whose numbers are no numbers of NumPy's; they are slow to import."""


def _as_float(operand: Any) -> Any:
    """A fraction as the number that it is; anything else as it is. Decimal numbers are refused, as NumPy does."""
    kind = type(operand)
    if (kind.__module__, kind.__name__) == ("decimal", "Decimal"):
        raise messages.refused_argument(
            OperandError, "a decimal.Decimal meets a tensor, whose numbers are binary.", "float(number)"
        )
    return float(operand) if kind.__module__ in _OTHER_NUMBERS else operand


def bind(operations: ModuleType) -> None:
    """Give tensors their operators, now that the operations exist."""
    from gradtape.core.fast_apply import fast_binary, fast_unary, is_plain
    from gradtape.core.operation import NO_PARAMS, apply
    from gradtape.core.tensor import Tensor, Variable
    from gradtape.numpy_dispatch import protocols
    from gradtape.numpy_dispatch.protocols import accepts
    from gradtape.ops.indexed_update import writes_element

    quick = frozenset({Tensor, Variable, float, int, np.ndarray, np.float64, np.float32})
    globals().update(ops=operations, protocols=protocols, ufuncs=protocols.UFUNCS, quick=quick)
    array_methods.bind(operations)

    def binary(op: Op) -> tuple[Any, Any, Any]:
        def general(x: Any, y: Any) -> Any:
            for operand in (x, y):
                if type(operand) in quick:
                    continue
                if type(operand).__module__ in _OTHER_NUMBERS:
                    return general(_as_float(x), _as_float(y))
                if not accepts(operand):
                    theirs = protocols.operators_with(type(operand))
                    protocols.refuse_lazy(type(operand))
                    protocols.refuse_matrix(type(operand))
                    return NotImplemented if theirs is None else theirs(op.name, x, y)
            return apply(op, (x, y), NO_PARAMS)

        operator = fast_binary(op, 1, general) if is_plain(op) else general
        ours = fast_binary(op, 2, general) if is_plain(op) else general

        def reflected(self: Any, other: Any) -> Any:
            return ours(other, self)

        def in_place(self: Any, other: Any) -> Any:
            is_alone = COUNTS_LOCALS and sys.getrefcount(self) <= _REFERENCES_OF_OPERAND
            other = _as_float(other) if type(other).__module__ in _OTHER_NUMBERS else other
            if accepts(other):
                new = apply(op, (self, other), NO_PARAMS)
                if self._is_number():
                    return new  # NumPy's numbers are immutable: other names of it keep the old one
                is_view = getattr(self, "_base", None) is not None
                if is_alone and is_view and new.shape == self.shape and writes_element(sys._getframe(1)):
                    return new  # `x[i] += y`, which writes it into x next; x is no list, as that would hold the view
                return self._replace(new, f"{op.name} in place")
            protocols.refuse_lazy(type(other))
            protocols.refuse_matrix(type(other))
            return NotImplemented

        return operator, reflected, in_place

    def unary(op: Op) -> Any:
        return fast_unary(op, depth=1) if is_plain(op) else lambda self: apply(op, (self,), NO_PARAMS)

    for name, function in _OPERATORS.items():
        methods = binary(getattr(operations, function))
        for prefix, method in zip(("", "r", "i"), methods, strict=True):
            setattr(TensorMethods, f"__{prefix}{name}__", method)
    for name, function in _COMPARISONS.items():
        setattr(TensorMethods, f"__{name}__", binary(getattr(operations, function))[0])
    for name, function in _UNARY.items():
        setattr(TensorMethods, f"__{name}__", unary(getattr(operations, function)))


class TensorMethods(array_methods.ArrayMethods):
    """The operators and methods of a tensor, as NumPy has them."""

    __slots__ = ()
    __array_priority__ = 1000.0

    if TYPE_CHECKING:

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
        def _is_number(self) -> bool: ...
        def __invert__(self) -> Tensor: ...

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not kwargs and method == "__call__":
            op = ufuncs.get(ufunc)
            if op is not None and op.fast_unary is not None and op.fast_binary is not None:
                if len(inputs) == 1:
                    return op.fast_unary(inputs[0])
                if len(inputs) == 2 and type(inputs[0]) in quick and type(inputs[1]) in quick:
                    return op.fast_binary(*inputs)
        return protocols.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        given = {name: value for name, value in kwargs.items() if value is not np._NoValue}
        return protocols.array_function(function, types, args, given)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __round__(self, decimals: int | None = None) -> Any:
        if decimals is None and self._is_number() and self.dtype.kind == "f":
            return int(ops.round(self))  # as Python and NumPy round a number
        return ops.round(self, decimals or 0)

    def __floor__(self) -> int:
        return int(ops.floor(self))

    def __ceil__(self) -> int:
        return int(ops.ceil(self))

    def __trunc__(self) -> int:
        return int(ops.trunc(self))

    def is_integer(self) -> Any:
        """Whether a number is whole, as `float.is_integer` says."""
        if self.shape:
            raise AttributeError(f"a tensor of shape {self.shape} has no attribute 'is_integer'")
        return bool(self == ops.floor(self))

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
        from gradtape.numpy_dispatch.interchange import export

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

"""The methods of tensors: the functions under their names, conversions, operators, and what is done in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape.extend import Tensor as Value
from gradtape.extend import concrete
from gradtape_standins.torch import (
    arithmetic,
    creation,
    dtypes,
    indexing,
    joining,
    less_common_functions,
    linalg,
    matrices,
    random,
    reductions,
    shaping,
)
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.size_and_device import device
from gradtape_standins.torch.tensor import Tensor, wrap
from gradtape_standins.torch.wrapping import cast, function, operand, promoted

# -- conversions


@function("ToCopy")
def _converted(input: Any, kind: Any) -> Any:
    return gt.astype(input, kind)


def to(self: Tensor, *where: Any, dtype: Any = None, copy: bool = False, **_: Any) -> Tensor:
    """In another type; the tensor itself where nothing has to change. There is one device, the CPU."""
    for item in where:
        if isinstance(item, Tensor):
            dtype = item.dtype
        elif isinstance(item, dtypes.dtype):
            dtype = item
        elif isinstance(item, (str, device)):
            device(item)
    if "device" in _ and _["device"] is not None:
        device(_["device"])
    kind = dtypes.as_numpy(dtype)
    if kind is None or kind == self._value.dtype:
        return clone(self) if copy else self
    converted: Tensor = _converted(self, kind)
    return converted


def type_(self: Tensor, dtype: Any = None) -> Any:
    """The name of the type, or the tensor in another type."""
    if dtype is None:
        return f"torch.{_TYPES[self.dtype.name]}Tensor"
    kind = getattr(dtype, "dtype_of_class", None) or _BY_NAME.get(str(dtype), dtype)
    return to(self, kind)


_TYPES = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
_BY_NAME = {f"torch.{name}Tensor": dtypes.NAMES[kind] for kind, name in _TYPES.items()}


def _converter(kind: dtypes.dtype, name: str) -> Callable[[Tensor], Tensor]:
    def convert(self: Tensor) -> Tensor:
        return to(self, kind)

    convert.__name__, convert.__doc__ = name, f"In the type {kind!r}."
    return convert


def cpu(self: Tensor) -> Tensor:
    """The tensor itself: it is on the CPU."""
    return self


def cuda(self: Tensor, *_: Any, **__: Any) -> Tensor:
    """There is no GPU here."""
    device("cuda")
    return self


@function("Clone")
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy of the numbers; the gradient passes."""
    return gt.positive(input) if input.dtype.kind != "b" else Value(concrete(input).copy())


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself where its numbers lie one behind the other, a copy otherwise."""
    return self if self.is_contiguous() else clone(self)


def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """A tensor from data, in the type of this one."""
    return creation.tensor(data, dtype=dtype or self.dtype, requires_grad=requires_grad)


def _new(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def made(self: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
        return make(*size, dtype=dtype or self.dtype, requires_grad=requires_grad)

    made.__doc__ = f"{make.__doc__} In the type of this one."
    return made


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, **_: Any) -> Tensor:
    """A tensor of one number in the type of this one."""
    return creation.full(size, fill_value, dtype=dtype or self.dtype)


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what a function makes of it."""
    import numpy as np

    array = self._numbers
    changed = np.array([callable(x) for x in array.ravel().tolist()], array.dtype).reshape(array.shape)
    return self._write(changed, "apply_", cast=True)


# -- in place


def in_place(name: str, compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The method that replaces a tensor's value by that of a function of it."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        with translating():
            self._check_writable(name)
        result = compute(self, *args, **kwargs)
        return self._write(result._value, name)

    method.__name__, method.__doc__ = name, f"`{compute.__name__}`, in place."
    return method


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write the numbers of `src`; the gradient passes."""
    with translating():
        value = src._value if isinstance(src, Tensor) else operand(src)
        source = cast(value, self._value.dtype)
        source = gt.positive(source) if isinstance(source, Value) and source.dtype.kind != "b" else source
    return _labelled_write(self, source, "copy_", "CopyBackwards")


def _labelled_write(self: Tensor, new: Any, how: str, label: str) -> Tensor:
    self._write(new, how, cast=True)
    wrap(self._value, label)
    return self


def fill_(self: Tensor, value: Any) -> Tensor:
    """Write one number everywhere."""
    return _filled(self, value, "fill_", "FillBackward2")


def zero_(self: Tensor) -> Tensor:
    """Write zeros everywhere."""
    return _filled(self, 0, "zero_", "ZeroBackward0")


def _filled(self: Tensor, number: Any, how: str, label: str) -> Tensor:
    with translating():
        old = self._value
        given = cast(number._value if isinstance(number, Tensor) else operand(number), old.dtype)
        # the old numbers stay on the graph, where nothing of their gradient is left
        new = gt.where(False, old, given) if old.requires_grad else gt.broadcast_to(given, old.shape)
    return _labelled_write(self, new, how, label)


def set_(self: Tensor, source: Any = None) -> Tensor:
    """Become another tensor: its numbers, its shape."""
    given = creation.empty(0, dtype=self.dtype) if source is None else source
    self.data = given.detach()
    return self


def resize_(self: Tensor, *size: Any) -> Tensor:
    """Another shape: the numbers that there are, in order, and zeros for those that there are not."""
    import numpy as np

    shape = tuple(shaping.lengths(size))
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad.\n  fix: x.detach().resize_(...)")
    numbers = np.resize(np.append(self._numbers.ravel(), np.zeros(0, self._numbers.dtype)), shape)
    held = min(numbers.size, self.numel())
    numbers.ravel()[held:] = 0
    self.data = wrap(Value(numbers))
    return self


def _adjoint(input: Tensor) -> Any:
    """The conjugate transpose of matrices."""
    turned = shaping.matrix_transpose(input)
    return turned.conj() if input.is_complex() else turned


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write one number on the diagonal."""
    with translating():
        import numpy as np

        places = np.arange(min(self._value.shape))
        new = gt.at(self._value)[(places,) * self.ndim].set(cast(operand(fill_value), self._value.dtype))
    return self._write(new, "fill_diagonal_")


def _shape_in_place(name: str, compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if self._inference:
            self._check_inference(name)
        self._held = compute(self, *args, **kwargs)._value
        self._base, self._look, self._linked = None, None, self._place is not None
        self._written += 1
        return self

    method.__name__, method.__doc__ = name, f"`{compute.__name__}`, in place."
    return method


# -- operators


def _reflected(compute: Callable[..., Tensor]) -> Callable[[Tensor, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        return compute(other, self) if _is_operand(other) else NotImplemented

    return method


def _operator(compute: Callable[..., Tensor]) -> Callable[[Tensor, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        return compute(self, other) if _is_operand(other) else NotImplemented

    return method


def _comparison(compute: Callable[..., Tensor], otherwise: Any) -> Callable[[Tensor, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        return compute(self, other) if _is_operand(other) else otherwise

    return method


def _is_operand(other: Any) -> bool:
    return isinstance(other, (Tensor, int, float, complex)) or hasattr(other, "__array__")


def __contains__(self: Tensor, element: Any) -> bool:
    return bool(reductions.any(arithmetic.FUNCTIONS["eq"](self, element)))


FUNCTIONS: dict[str, Any] = {
    **arithmetic.FUNCTIONS,
    **reductions.FUNCTIONS,
    **shaping.FUNCTIONS,
    **joining.FUNCTIONS,
    **indexing.FUNCTIONS,
    **matrices.FUNCTIONS,
    "clone": clone,
    "det": linalg.det,
    "slogdet": linalg.slogdet,
    "logdet": linalg.logdet,
    "inverse": linalg.inv,
    "pinverse": linalg.pinv,
    "cholesky": linalg.cholesky,
    "qr": linalg.qr,
    "matrix_exp": linalg.matrix_exp,
    "matrix_power": linalg.matrix_power,
}
"""The functions of tensors, by their names in `torch`."""

_NOT_METHODS = (
    "cat concat concatenate stack hstack vstack dstack column_stack row_stack meshgrid cartesian_prod combinations "
    "block_diag broadcast_tensors broadcast_shapes einsum tensordot kron atleast_1d atleast_2d atleast_3d cdist "
    "trapezoid trapz isin searchsorted bucketize var_mean std_mean real imag numel rsub"
)
_IN_PLACE = (
    "abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh "
    "sigmoid floor ceil round trunc frac sign square erf erfinv relu nan_to_num logit add sub mul div pow remainder "
    "fmod floor_divide clamp clip addcmul addcdiv lerp multiply divide subtract true_divide logical_and logical_or "
    "logical_not bitwise_and bitwise_or bitwise_xor masked_fill masked_scatter index_add index_copy index_fill "
    "index_put scatter scatter_add scatter_reduce cumsum cumprod tril triu addmm addmv addr baddbmm atan2 lgamma "
    "digamma eq ne lt le gt ge absolute negative arcsin arccos arctan asinh acosh atanh arcsinh arccosh arctanh "
    "arctan2 sgn erfc sinc deg2rad rad2deg fix float_power xlogy hypot copysign clamp_min clamp_max logical_xor "
    "bitwise_not bitwise_left_shift bitwise_right_shift gcd lcm heaviside not_equal less less_equal greater "
    "greater_equal"
)
_OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}


def bind() -> None:
    """Give tensors their methods and operators."""
    not_methods = set(_NOT_METHODS.split())
    for name, compute in FUNCTIONS.items():
        if name not in not_methods:
            setattr(Tensor, name, compute)
    for methods in (shaping.METHODS, joining.METHODS, random.METHODS, less_common_functions.METHODS):
        for name, method in methods.items():
            setattr(Tensor, name, method)
    for name in _IN_PLACE.split():
        setattr(Tensor, f"{name}_", in_place(f"{name}_", FUNCTIONS[name]))
    for name in ("put", "igamma", "igammac", "ldexp", "nextafter", "renorm"):
        setattr(Tensor, f"{name}_", in_place(f"{name}_", less_common_functions.METHODS[name]))
    for name in ("squeeze", "unsqueeze", "transpose", "t", "swapaxes"):
        setattr(Tensor, f"{name}_", _shape_in_place(f"{name}_", FUNCTIONS[name]))
    for name, function_name in _OPERATORS.items():
        compute = FUNCTIONS[function_name]
        setattr(Tensor, f"__{name}__", _operator(compute))
        setattr(Tensor, f"__r{name}__", _reflected(compute))
        if name != "matmul":
            setattr(Tensor, f"__i{name}__", in_place(f"{function_name}_", compute))
    Tensor.__rsub__ = _operator(FUNCTIONS["rsub"])  # type: ignore[attr-defined]
    Tensor.__rtruediv__ = _operator(_over)  # type: ignore[attr-defined]
    Tensor.__eq__ = _comparison(FUNCTIONS["eq"], False)  # type: ignore[method-assign,assignment]
    Tensor.__ne__ = _comparison(FUNCTIONS["ne"], True)  # type: ignore[method-assign,assignment]
    for name in ("lt", "le", "gt", "ge"):
        setattr(Tensor, f"__{name}__", _operator(FUNCTIONS[name]))
    for name, function_name in {"neg": "neg", "pos": "positive", "abs": "abs", "invert": "bitwise_not"}.items():
        setattr(Tensor, f"__{name}__", FUNCTIONS[function_name])
    for name, kind in dtypes.NAMES.items():
        if not any(character.isdigit() for character in name):
            setattr(Tensor, name, _converter(kind, name))
    own = {
        "__getitem__": indexing.getitem,
        "__setitem__": indexing.setitem,
        "__contains__": __contains__,
        "__round__": FUNCTIONS["round"],
        "to": to,
        "type": type_,
        "type_as": type_as,
        "byte": _converter(dtypes.uint8, "byte"),
        "char": _converter(dtypes.int8, "char"),
        "is_same_size": is_same_size,
        "is_nonzero": Tensor.__bool__,
        "cpu": cpu,
        "cuda": cuda,
        "contiguous": contiguous,
        "new_tensor": new_tensor,
        "new_full": new_full,
        "new_zeros": _new(creation.zeros),
        "new_ones": _new(creation.ones),
        "new_empty": _new(creation.empty),
        "apply_": apply_,
        "copy_": copy_,
        "fill_": fill_,
        "zero_": zero_,
        "fill_diagonal_": fill_diagonal_,
        "set_": set_,
        "resize_": resize_,
        "resize_as_": lambda self, other: resize_(self, *other.shape),
        "polygamma": lambda self, n: less_common_functions.FUNCTIONS["polygamma"](n, self),
        "kron": FUNCTIONS["kron"],
        "pin_memory": cpu,
        "share_memory_": cpu,
        "is_pinned": lambda self: False,
        "is_shared": lambda self: False,
        "get_device": lambda self: -1,
        "new": lambda self, *size: Tensor(*size, dtype=self.dtype),
    }
    for name, method in own.items():
        setattr(Tensor, name, method)
    for name, compute in {
        "T": shaping.reverse_axes,
        "mT": shaping.matrix_transpose,
        "H": shaping.matrix_transpose,
        "mH": _adjoint,
        "real": FUNCTIONS["real"],
        "imag": FUNCTIONS["imag"],
    }.items():
        setattr(Tensor, name, property(compute, doc=compute.__doc__))


@function("Mul")
def _over(input: Any, other: Any) -> Any:
    """other / input, as PyTorch computes it: other times the reciprocal."""
    inverse = gt.reciprocal(input if input.dtype.kind in "fc" else gt.astype(input, dtypes.default()))
    return gt.multiply(*promoted(inverse, other))


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether another tensor has the same shape."""
    return self.shape == other.shape


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """In the type of another tensor."""
    return to(self, other.dtype)


bind()

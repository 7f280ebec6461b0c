"""`torch.Tensor`: what it is, how it prints, how its value leaves, and its gradient."""

from __future__ import annotations

import difflib
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import gradtape as gt
from gradtape.extend import Lifted, concrete, leave_tape, messages, node_of
from gradtape.extend import Tensor as Value
from gradtape_standins.torch import dtypes, printing
from gradtape_standins.torch.errors import DetachError, translating, warn_not_kept
from gradtape_standins.torch.grad_fn import GradFn, label_of, name_node
from gradtape_standins.torch.hooks import RemovableHandle, shown, waiting
from gradtape_standins.torch.size_and_device import Size, device, layout, strided
from gradtape_standins.torch.storage import Mirror, Stored, inferring, is_grad_enabled

_new = object.__new__


class _Original(type):
    """Classes that print as those that they stand for."""

    def __repr__(cls) -> str:
        name = cls.__dict__.get("_original")
        return type.__repr__(cls) if name is None else f"<class '{name}'>"


class Tensor(Stored, metaclass=_Original):
    """A tensor as PyTorch has it. Make one with `torch.tensor`; `torch.Tensor(data)` makes one of the default type.

    >>> from gradtape_standins import torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum()
    tensor(5., grad_fn=<SumBackward0>)
    """

    __array_priority__ = 1000
    _original = "torch.Tensor"

    _gradient: Tensor | None = None
    _awaiting: list[Callable[[Tensor], Any]] = []  # noqa: RUF012  (replaced, never written to)

    if TYPE_CHECKING:

        def __getitem__(self, index: Any) -> Any: ...

    def __getattr__(self, name: str) -> Any:
        near = difflib.get_close_matches(name, dir(type(self)), 2) if not name.startswith("_") else []
        hint = f"; near are {', '.join(near)}" if near else ""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}")

    def __init__(self, *data: Any, dtype: Any = None) -> None:
        kind = dtypes.default() if dtype is None else dtypes.as_numpy(dtype)
        if len(data) == 1 and isinstance(data[0], Size):  # a shape, where a list would be numbers
            data = tuple(data[0])
            self._held = Value(np.zeros(data, kind))
        elif data and all(isinstance(length, (int, np.integer)) for length in data):
            self._held = Value(np.zeros(data, kind))
        else:
            from gradtape_standins.torch.creation import convert_to_array

            self._held = Value(convert_to_array(data[0] if data else [], kind))

    def _blank(self) -> Tensor:
        return _new(Tensor)

    # -- what it is

    @property
    def shape(self) -> Size:
        """The length of each axis."""
        return Size(self._value.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the numbers."""
        return dtypes.of(self._value.dtype)

    @property
    def device(self) -> device:
        """Where the tensor is: the CPU."""
        return device("cpu")

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._value.shape)

    @property
    def layout(self) -> layout:
        """How the numbers are laid out: strided, as in an array."""
        return strided

    is_cuda = is_sparse = is_quantized = is_meta = False
    is_cpu = True

    @property
    def itemsize(self) -> int:
        """The number of bytes of one number."""
        return int(self._value.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all numbers."""
        return self.itemsize * self.numel()

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one axis."""
        if dim is None:
            return self.shape
        with translating():
            if not -self.ndim <= dim < self.ndim:
                raise messages.no_such_axis(dim, self.ndim, self._value.shape)
        return self._value.shape[dim]

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return int(self._value.size)

    nelement = numel

    def element_size(self) -> int:
        """The number of bytes of one number."""
        return self.itemsize

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return int(self._value.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    __hash__ = object.__hash__

    def is_floating_point(self) -> bool:
        """Whether the numbers are real floating point numbers."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the numbers are complex."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the numbers can be negative."""
        return self.dtype.is_signed

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the numbers lie one behind the other in memory."""
        laid_out = self._laid_out()
        return bool((self._numbers if laid_out is None else laid_out).flags.c_contiguous)

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode."""
        return self._inference

    def stride(self, dim: int | None = None) -> Any:
        """How many elements apart neighbours along each axis (or `dim`) are in memory."""
        laid_out = self._laid_out()
        array = self._numbers if laid_out is None else laid_out
        steps = [step // array.itemsize for step in array.strides]
        if not array.size:  # NumPy says nothing about the memory of an empty array
            steps = [int(np.prod([max(n, 1) for n in array.shape[axis + 1 :]])) for axis in range(array.ndim)]
        for axis in reversed(range(array.ndim)):
            if array.shape[axis] == 1 and not steps[axis]:  # an axis that was added: NumPy takes no step along it
                steps[axis] = array.shape[axis + 1] * steps[axis + 1] if axis + 1 < array.ndim else 1
        return tuple(steps) if dim is None else steps[dim]

    def storage_offset(self) -> int:
        """How many elements of the storage lie before the first of this tensor."""
        laid_out = self._laid_out()
        if laid_out is None or laid_out.base is None:
            return 0
        return int(laid_out.__array_interface__["data"][0] - laid_out.base.__array_interface__["data"][0])

    def data_ptr(self) -> int:
        """A number that is the same for tensors that share their numbers."""
        return id(self if self._base is None else self._base)

    def _laid_out(self) -> Any:
        """For a view, an array of bytes that lies in memory as PyTorch's view does; None for what is no view."""
        if self._base is None or self._look is None or isinstance(self._base._value, Lifted):
            return None
        return np.asarray(self._look(np.empty(self._base._value.shape, np.int8)))

    @property
    def _numbers(self) -> Any:
        """The numbers as an array, without leaving a trace."""
        return concrete(self._value)

    @property
    def _version(self) -> int:
        """How often this tensor, or what it is a view of, was written to, `.data` left aside."""
        if self._inference:
            raise RuntimeError("Inference tensors do not track version counter.\n  fix: x.clone() is a normal tensor")
        root = self if self._base is None else self._base
        return root._written - root._unnoticed

    # -- how it prints

    def __repr__(self) -> str:
        value = self._value
        if isinstance(value, Lifted):
            return f"tensor({value!r})"
        ending = ""
        if value.requires_grad:
            leaf = node_of(value).op is None
            ending = "requires_grad=True" if leaf else f"grad_fn=<{label_of(node_of(value))}>"
        return printing.text_of(concrete(value), ending)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.ndim else object.__format__(self, spec)

    # -- how its value leaves

    def _left(self, how: str) -> Any:
        with translating():
            return leave_tape(self._value, how)

    def item(self) -> Any:
        """The value of a one-element tensor as a Python number."""
        if self.numel() != 1:
            raise RuntimeError(_not_one(".item()", self))
        return self._left(".item()").item()

    def tolist(self) -> Any:
        """The value as nested lists of Python numbers."""
        return self._left(".tolist()").tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """The value as an array that shares the tensor's numbers: a write to one is a write to the other."""
        if force:
            return self.detach().clone().numpy()
        self._check_untracked("numpy()")
        array = self._numbers
        if self._mirror is None:
            self._mirror, self._linked = Mirror(np.array(array)), True
        return self._mirror.array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self._check_untracked("np.asarray()")
        return np.array(self._left("np.asarray()"), dtype=dtype)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return wrap(np.array(array))

    def _check_untracked(self, how: str) -> None:
        """Refuse to hand out numbers whose gradient would be lost in silence."""
        if self._value.requires_grad and is_grad_enabled():
            raise DetachError(
                messages.problem(
                    "GT312",
                    f"{how} of a tensor of shape {self._value.shape} that requires a gradient, which would be lost",
                    fixes=[
                        "x.detach().numpy() says that it is not wanted",
                        "with torch.no_grad(): around it says so too",
                        "keep to torch's functions where it is",
                    ],
                )
            )

    def __float__(self) -> float:
        return float(self._one("float()"))

    def __int__(self) -> int:
        return int(self._one("int()"))

    def __complex__(self) -> complex:
        return complex(self._one("complex()"))

    def __index__(self) -> int:
        if self._value.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._one("operator.index()"))

    def __bool__(self) -> bool:
        return bool(self._one("bool()"))

    def _one(self, how: str) -> Any:
        if self.numel() != 1:
            raise (RuntimeError if how == "bool()" else ValueError)(_not_one(how, self))
        return self._left(how).reshape(())[()]

    def __deepcopy__(self, memo: Any) -> Any:
        with translating():
            if node_of(self._value).op is not None and self._value.requires_grad:
                raise messages.stored_while_tracked("copy.deepcopy", self._value.shape)
        copied = type(self).__new__(type(self))
        copied._held = gt.tensor(self._numbers, requires_grad=self.requires_grad)
        return copied

    def __copy__(self) -> Any:
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __reduce__(self) -> Any:
        raise RuntimeError(
            "pickle: tensors of the stand-in are not pickled, because loading a pickle runs whatever code is in it.\n"
            "  fix: torch.save(tensor, path) writes a file of PyTorch's format"
        )

    # -- gradients

    @property
    def requires_grad(self) -> bool:
        """Whether `.backward()` sends a gradient here or through here."""
        return bool(self._value.requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Switch recording for `.backward()` on or off for a leaf; returns the tensor itself."""
        if self._inference and requires_grad and not inferring.get():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.\n"
                "  fix: x.clone().requires_grad_(), or torch.no_grad() where the tensor is made"
            )
        with translating():
            self._value.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        """True for tensors that were not computed from tensors that require a gradient."""
        return node_of(self._value).op is None or not self._value.requires_grad

    @property
    def grad_fn(self) -> GradFn | None:
        """The operation that made this tensor, or None for a leaf."""
        value = self._value
        return GradFn(node_of(value)) if node_of(value).op is not None and value.requires_grad else None

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `.backward()` has accumulated here, or None."""
        value = self._value
        held = value.grad
        if held is None:
            if self._gradient is not None:
                self._gradient._place = None
                self._gradient = None
            if node_of(value).op is not None and value.requires_grad and not self._retains:
                warn_not_kept(self)
            return None
        gradient = self._gradient
        if gradient is None or gradient._place is None:
            gradient = self._gradient = wrap(held, "CopyBackwards")
            gradient._place, gradient._linked = node_of(value), True
            shown.add(gradient)
        return gradient

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value)}")
        if value is not None and value.dtype != self.dtype:
            raise RuntimeError(
                f"assigned grad has data of a different type: {value.dtype} for a tensor of {self.dtype}.\n"
                f"  fix: grad.to({self.dtype})"
            )
        if self._gradient is not None:
            self._gradient._place = None
        self._gradient = None
        with translating():
            self._value.grad = None if value is None else value._value
        if value is not None:
            self._gradient = value
            value._place, value._linked = node_of(self._value), True
            shown.add(value)

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def retain_grad(self) -> None:
        """Keep `.grad` of this computed tensor too when `.backward()` passes it."""
        with translating(), gt.enable_grad():
            if node_of(self._value).op is None:
                if not self._value.requires_grad:
                    raise messages.no_gradient_will_arrive("retain_grad")
                return
            self._value.retain_grad()
            self._retains = True

    @property
    def retains_grad(self) -> bool:
        """Whether `.grad` of this computed tensor is kept."""
        return self._retains

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to the `.grad` of the leaves it was computed from."""
        from gradtape_standins.torch.autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call `hook` with the gradient that arrives here; what it returns, if not None, takes its place."""

        def unwrapping(gradient: Any) -> Any:
            replaced = hook(wrap(gradient))
            return replaced._value if isinstance(replaced, Tensor) else replaced

        vars(unwrapping)["__wrapped__"] = hook
        with translating(), gt.enable_grad():
            return RemovableHandle(self._value.register_hook(unwrapping))

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call `hook` with this leaf when `.backward()` has added to its `.grad`."""
        if not self.is_leaf or not self.requires_grad:
            raise RuntimeError("post accumulate grad hooks are for leaves that require a gradient")
        if not self._awaiting:
            self._awaiting = []
            waiting.append(weakref.ref(self))
        hooks = self._awaiting
        hooks.append(hook)
        return RemovableHandle(lambda: hooks.remove(hook))

    def detach(self) -> Tensor:
        """The same numbers without the gradient; a write to one is a write to the other."""
        with translating():
            seen: Tensor = self._viewed(gt.stop_gradient, behind=True)
        return seen

    def detach_(self) -> Tensor:
        """Leave the graph."""
        self._held = gt.stop_gradient(self._value)
        self._written += 1
        return self

    @property
    def data(self) -> Tensor:
        """The same numbers without the gradient: writes come in behind the graph's back."""
        seen = self.detach()
        seen._silent = True
        return seen

    @data.setter
    def data(self, new: Tensor) -> None:
        if not isinstance(new, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(new).__name__}.\n  fix: torch.tensor(x)")
        value = self._value
        if new._value.shape == value.shape and new._value.dtype == value.dtype:
            self._put(new._value, True, True)
        else:
            self._held = gt.tensor(new._numbers, requires_grad=value.requires_grad)
            self._written += 1


def wrap(value: Any, label: str | None = None) -> Any:
    """A value of gradtape's (or several) as tensors of PyTorch's, under the name of the operation that made it."""
    if isinstance(value, Value):
        tensor = _new(Tensor)
        tensor._held = value
        if label is not None:
            name_node(value, label)
        if inferring.get():
            tensor._inference = True
        return tensor
    if isinstance(value, (np.ndarray, np.generic)):
        return wrap(Value(value))
    if isinstance(value, (tuple, list)):
        parts = [wrap(part, label) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: wrap(part, label) for key, part in value.items()}
    return value


def unwrap(value: Any) -> Any:
    """What a function of gradtape's takes for an argument of a function of PyTorch's."""
    if isinstance(value, Tensor):
        return value._value
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([unwrap(part) for part in value])
    if kind is dict:
        return {key: unwrap(part) for key, part in value.items()}
    return value.numpy if kind is dtypes.dtype else value


def _not_one(how: str, tensor: Tensor) -> str:
    try:
        raise messages.not_one_element(how, tensor._value.shape)
    except gt.GradTapeError as error:
        return str(error)

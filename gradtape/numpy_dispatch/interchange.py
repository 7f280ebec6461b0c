"""Arrays of other libraries: DLPack both ways, and PyTorch's tensors.

A tensor owns its memory, and PyTorch writes even into what it is told not to write into. So what crosses is a copy;
`copy=False` hands out the memory itself, marked as read-only where the version of DLPack can say so. A tracked tensor
refuses to leave: the other library would drop its gradient in silence.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from gradtape.core.location import Location, is_library, user_frame
from gradtape.core.operation import Lifted
from gradtape.core.tensor import Tensor, is_tracked, tensor
from gradtape.errors import DetachError, DtypeError, OperandError
from gradtape.explain import messages

CPU = (1, 0)
"""What DLPack calls the device of every tensor."""


class ExchangeError(OperandError, BufferError):
    """Memory that cannot be exchanged with another library as it was asked for.

    >>> from gradtape.numpy_dispatch.interchange import ExchangeError
    >>> issubclass(ExchangeError, BufferError)
    True
    """


class _Unmarked:
    """The memory of an array without the mark that it is read-only, which DLPack before version 1 cannot pass on."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array  # keeps the memory alive
        described = array.__array_interface__
        self.__array_interface__ = {**described, "data": (described["data"][0], False)}


def export(
    x: Tensor,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """What `Tensor.__dlpack__` does: a capsule with a copy of the numbers, or with the tensor's own memory.

    Only `copy=False` shares memory. It is for reading: from version 1 on DLPack says so to who takes it, and who asks
    for an older version (or for none) has to keep to it.
    """
    check_leaves_no_gradient(x, "DLPack")
    if stream is not None:
        raise messages.refused_argument(
            ExchangeError, f"__dlpack__: stream={stream!r}, but tensors are on the CPU.", "stream=None"
        )
    if dl_device is not None and tuple(dl_device) != CPU:
        raise messages.refused_argument(
            ExchangeError, f"__dlpack__: dl_device={dl_device!r}.", f"{CPU}, the CPU, or None"
        )
    array = np.asarray(x._leave("DLPack"))
    if copy is not False:
        return np.array(array).__dlpack__(max_version=max_version)
    if max_version is None or max_version[0] < 1:
        return np.asarray(_Unmarked(array)).__dlpack__(max_version=max_version)
    view = array.view()
    view.flags.writeable = False
    return view.__dlpack__(max_version=max_version)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor with the numbers of another library's array, or of anything that speaks DLPack.

    They are copied: a tensor owns its memory. Only another tensor's can be shared, with `copy=False`.

    >>> import numpy as np, gradtape as gt
    >>> gt.from_dlpack(np.array([1.0, 2.0]))
    Tensor([1., 2.])
    """
    if device is not None and device != "cpu":
        raise messages.refused_argument(
            ExchangeError, f"from_dlpack: device={device!r}.", "device='cpu', the only one; or None"
        )
    if isinstance(x, Tensor):
        check_leaves_no_gradient(x, "DLPack")
        array = np.asarray(x._leave("DLPack"))
        return Tensor(np.array(array) if copy else array)
    if not hasattr(x, "__dlpack__"):
        raise messages.refused_argument(
            OperandError,
            f"from_dlpack: a {type(x).__name__} does not speak DLPack (it has no __dlpack__).",
            "gt.tensor(x) for numbers, nested lists and NumPy arrays",
        )
    if copy is False:
        raise messages.refused_argument(
            ExchangeError,
            f"from_dlpack: copy=False, but a tensor owns its memory and cannot share that of a {type(x).__name__}.",
            "copy=None, which copies",
        )
    try:
        array = np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise messages.refused_argument(
            ExchangeError,
            f"from_dlpack: the {type(x).__name__} does not give its numbers away: {error}.",
            "an array on the CPU, of a dtype that NumPy has, that requires no gradient",
        ) from error
    return tensor(array)


def check_leaves_no_gradient(x: Tensor, taker: str) -> None:
    """Raise if `x` is tracked: its gradient would be lost without a word."""
    if is_tracked(x) or isinstance(x, Lifted):
        raise DetachError(
            messages.problem(
                "GT312",
                f"{taker} asked for the numbers of a tracked tensor of shape {x.shape}; "
                f"its gradient would be lost in silence",
                spans=[_place()],
                fixes=[
                    "gt.bridges.as_torch(f), as_jax(f) or as_pytensor(f) take a whole function over, with its gradient",
                ],
                intent="if the gradient is not wanted, say so: x.detach() or x.numpy()",
            )
        )


def _place() -> Location:
    """The user's line, on the other side of whatever installed library asks for the numbers."""
    innermost = frame = user_frame()
    while frame is not None and (is_library(frame.f_code.co_filename) or "-packages" in frame.f_code.co_filename):
        frame = frame.f_back
    found = frame or innermost
    return Location(None, 0) if found is None else Location(found.f_code, found.f_lasti)


def from_torch(x: Any, requires_grad: bool = False) -> Tensor:
    """A tensor with the numbers of a PyTorch tensor; with `requires_grad`, one that `.backward()` reaches.

    A PyTorch tensor that requires a gradient itself is refused: that gradient would end here.
    `gt.bridges.as_torch` makes a function of gradtape's part of a PyTorch graph.

    >>> import gradtape as gt
    >>> from importlib.util import find_spec
    >>> if find_spec("torch"):
    ...     import torch
    ...     assert gt.from_torch(torch.ones(2)).sum().item() == 2.0
    """
    torch = import_library("torch", "from_torch")
    if not isinstance(x, torch.Tensor):
        raise messages.refused_argument(
            OperandError, f"from_torch: a {type(x).__name__} is no PyTorch tensor.", "a torch.Tensor; gt.tensor(x)"
        )
    if x.requires_grad:
        raise DetachError(
            messages.problem(
                "GT312",
                f"from_torch: this PyTorch tensor of shape {tuple(x.shape)} requires a gradient, which would end here",
                fixes=["gt.bridges.as_torch(f)(x): PyTorch differentiates through the function f of gradtape"],
                intent="if the gradient is not wanted, say so: x.detach()",
            )
        )
    return tensor(torch_to_array(x), requires_grad=requires_grad)


def to_torch(x: Any, requires_grad: bool = False) -> Any:
    """A PyTorch tensor with the numbers of a tensor; with `requires_grad`, one that PyTorch differentiates by.

    >>> import gradtape as gt
    >>> from importlib.util import find_spec
    >>> if find_spec("torch"):
    ...     assert gt.to_torch(gt.tensor([1.0, 2.0])).tolist() == [1.0, 2.0]
    """
    torch = import_library("torch", "to_torch")
    if isinstance(x, Tensor):
        check_leaves_no_gradient(x, "PyTorch")
        x = x._leave("gt.to_torch")
    return torch.from_numpy(np.array(x)).requires_grad_(requires_grad)


def torch_to_array(x: Any) -> Any:
    """The numbers of a PyTorch tensor, wherever its gradient goes, as an array of our own."""
    if x.device.type != "cpu":
        raise messages.refused_argument(
            OperandError, f"this PyTorch tensor is on the device {str(x.device)!r}.", "x.cpu()"
        )
    if x.is_sparse or not x.layout == _strided():
        raise messages.refused_argument(OperandError, f"this PyTorch tensor is {x.layout}, not dense.", "x.to_dense()")
    try:
        return np.array(x.detach().resolve_conj().resolve_neg().numpy())
    except TypeError as error:
        raise messages.refused_argument(DtypeError, f"NumPy has no {x.dtype}.", "x.float()") from error


def _strided() -> Any:
    return importlib.import_module("torch").strided


def import_library(name: str, function: str) -> Any:
    """Another library, or an error that says that it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{function} needs the library {name}, which cannot be imported: {error}\n"
            f"  fix: python -m pip install {name}"
        ) from error

"""Files that PyTorch has written: a zip archive with the numbers of each tensor, and a pickle that says what is what.

The pickle is read here, step by step, with the few steps that containers of tensors need. Names in it are looked up in
a table, so that nothing can be called that is not meant to be; everything else is refused.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import zipfile
from collections import OrderedDict
from typing import Any

import numpy as np

from gradtape.standins.torch import dtypes
from gradtape.standins.torch.description import Size
from gradtape.standins.torch.nn.parameter import Parameter
from gradtape.standins.torch.tensor import wrap

_STORAGES = {
    "FloatStorage": np.float32,
    "DoubleStorage": np.float64,
    "HalfStorage": np.float16,
    "LongStorage": np.int64,
    "IntStorage": np.int32,
    "ShortStorage": np.int16,
    "CharStorage": np.int8,
    "ByteStorage": np.uint8,
    "BoolStorage": np.bool_,
    "ComplexFloatStorage": np.complex64,
    "ComplexDoubleStorage": np.complex128,
}


class _Named:
    """A name that a pickle mentions."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Mark:
    """Where a tuple, a list or a dictionary begins on the stack."""


def _refused(where: str, why: str) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(
        f"torch.load: {where} {why}.\n"
        "  fix: store tensors, numbers, texts and containers of them: torch.save(model.state_dict(), path)"
    )


def read(content: bytes, where: str) -> Any:
    """What is in a file of PyTorch's; an error for everything that is more than tensors and plain containers."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        entries = {info.filename.partition("/")[2]: info for info in archive.infolist()}
        if any(info.compress_type != zipfile.ZIP_STORED for info in entries.values()):
            raise _refused(where, "has compressed parts, which PyTorch does not write")
        parts = {name: archive.read(info) for name, info in entries.items()}
    except zipfile.BadZipFile as error:
        raise _refused(where, f"is damaged: {error}") from None
    if "data.pkl" not in parts:
        raise _refused(where, "is a zip archive, but not one of PyTorch's")
    return _Reader(parts, where).result()


class _Reader:
    """Reads the steps of one pickle."""

    def __init__(self, parts: dict[str, bytes], where: str) -> None:
        self.parts, self.where, self.is_big = parts, where, parts.get("byteorder") == b"big"
        self.stack: list[Any] = []
        self.memory: dict[int, Any] = {}

    def result(self) -> Any:
        """The object that the pickle describes."""
        try:
            for step, argument, _ in pickletools.genops(self.parts["data.pkl"]):
                if step.name == "STOP":
                    return self.stack.pop()
                self._take(step.name, argument)
        except (IndexError, KeyError, ValueError, TypeError) as error:
            raise _refused(self.where, f"is damaged: {error!r}") from None
        raise _refused(self.where, "is cut off")

    def _take(self, step: str, argument: Any) -> None:
        stack = self.stack
        if step in _CONSTANTS:
            stack.append(_CONSTANTS[step]())
        elif step in _VALUES:
            stack.append(argument)
        elif step in ("BINPUT", "LONG_BINPUT", "PUT"):
            self.memory[int(argument)] = stack[-1]
        elif step == "MEMOIZE":
            self.memory[len(self.memory)] = stack[-1]
        elif step in ("BINGET", "LONG_BINGET", "GET"):
            stack.append(self.memory[int(argument)])
        elif step == "GLOBAL":
            stack.append(self._named(argument.replace(" ", ".")))
        elif step in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(step[-1])
            stack[-count:] = [tuple(stack[-count:])]
        elif step in ("TUPLE", "APPENDS", "SETITEMS"):
            self._gather(step)
        elif step == "APPEND":
            held = stack.pop()
            self._container(list).append(held)
        elif step == "SETITEM":
            value, key = stack.pop(), stack.pop()
            self._container(dict)[key] = value
        elif step == "BINPERSID":
            stack.append(self._storage(stack.pop()))
        elif step == "REDUCE":
            arguments, called = stack.pop(), stack.pop()
            stack.append(self._made(called, arguments))
        elif step == "BUILD":  # attributes, such as the versions that a state_dict carries: of no use here
            stack.pop()
            self._container(OrderedDict)
        elif step not in ("PROTO", "FRAME"):
            raise _refused(self.where, f"has a step {step}, which containers of tensors do not need")

    def _gather(self, step: str) -> None:
        start = max(place for place, item in enumerate(self.stack) if isinstance(item, _Mark))
        items = self.stack[start + 1 :]
        del self.stack[start:]
        if step == "TUPLE":
            self.stack.append(tuple(items))
        elif step == "APPENDS":
            self._container(list).extend(items)
        else:
            self._container(dict).update(zip(items[::2], items[1::2], strict=True))

    def _container(self, kind: type) -> Any:
        if not isinstance(self.stack[-1], kind):
            raise _refused(self.where, f"changes a {type(self.stack[-1]).__name__}")
        return self.stack[-1]

    def _named(self, name: str) -> Any:
        last = name.removeprefix("torch.")
        known = ("collections.OrderedDict", "torch.Size", "torch._utils._rebuild_tensor_v2")
        if name in known or name == "torch._utils._rebuild_parameter" or last in _STORAGES:
            return _Named(name)
        if name.startswith("torch.") and last in dtypes.NAMES:
            return dtypes.NAMES[last]
        raise _refused(self.where, f"would use {name} while it is read, which is refused")

    def _storage(self, given: Any) -> Any:
        _, kind, key, *_ = given
        native = np.dtype(_STORAGES[kind.name.removeprefix("torch.")])
        stored = native.newbyteorder("big" if self.is_big else "little")
        return np.frombuffer(self.parts[f"data/{key}"], stored).astype(native)

    def _made(self, called: Any, arguments: tuple[Any, ...]) -> Any:
        if not isinstance(called, _Named):
            raise _refused(self.where, f"calls a {type(called).__name__}")
        if called.name == "collections.OrderedDict":
            return OrderedDict(*arguments)
        if called.name == "torch.Size":
            return Size(*arguments)
        if called.name == "torch._utils._rebuild_parameter":
            return Parameter(arguments[0], bool(arguments[1]))
        storage, offset, size, stride, requires_grad, *_ = arguments
        if len(size) != len(stride) or min((offset, *size, *stride)) < 0:
            raise _refused(self.where, f"has a tensor of shape {size} and strides {stride}")
        last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
        if 0 not in size and last >= storage.size:
            raise _refused(self.where, f"has a tensor that needs {last + 1} numbers, of which {storage.size} are there")
        steps = [step * storage.itemsize for step in stride]
        seen = np.lib.stride_tricks.as_strided(storage[offset:], size, steps, writeable=False)
        tensor = wrap(np.array(seen))
        return tensor.requires_grad_() if requires_grad else tensor


_CONSTANTS: dict[str, Any] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "MARK": _Mark,
}
"""What steps without an argument put on the stack."""

_VALUES = ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "SHORT_BINSTRING")
"""The steps whose argument is what they put on the stack."""

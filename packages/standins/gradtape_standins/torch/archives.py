"""Files as PyTorch writes them: a zip archive with the numbers of each tensor, and a pickle that says what is what.

The pickle is read here, step by step, with the few steps that containers of tensors need. Names in it are looked up in
a table, so that nothing can be called that is not meant to be; everything else is refused. What is written has these
steps only, and PyTorch reads it with `weights_only=True`.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import struct
import sys
import zipfile
from collections import OrderedDict
from typing import Any

import numpy as np

from gradtape_standins.torch import dtypes
from gradtape_standins.torch.nn.parameter import Parameter
from gradtape_standins.torch.size_and_device import Size
from gradtape_standins.torch.tensor import Tensor, wrap

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
_STORAGE_OF = {np.dtype(kind): name for name, kind in _STORAGES.items()}

MORE_THAN_STORED = 1 << 26
"""How many bytes the tensors of a file may take beyond what is stored of them: some are stretched, or share numbers."""

PARTS_OF_A_KEY = 1000
"""How many parts a key of a dictionary may have: one that refers to itself over and over takes forever to hash."""


class _Named:
    """A name that a pickle mentions."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Kind:
    """A dtype of NumPy's, whose byte order a pickle tells later than the rest."""

    def __init__(self, kind: np.dtype[Any]) -> None:
        self.kind = kind


def _refused(where: str, why: str) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(
        f"torch.load: {where} {why}.\n"
        "  fix: store tensors, numbers, texts and containers of them: torch.save(model.state_dict(), path)"
    )


def _said(error: Exception) -> str:
    """What an error says, without what a file has put into it, which may take forever to print."""
    plain = all(isinstance(part, (str, int)) for part in error.args)
    return f"{type(error).__name__}: {error}" if plain and not isinstance(error, UnicodeError) else type(error).__name__


def read(content: bytes, where: str) -> Any:
    """What is in a file of PyTorch's; an error for everything that is more than tensors and plain containers."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        entries = {info.filename.partition("/")[2]: info for info in archive.infolist()}
        if any(info.compress_type != zipfile.ZIP_STORED for info in entries.values()):
            raise _refused(where, "has compressed parts, which PyTorch does not write")
        if sum(info.file_size for info in entries.values()) > len(content):
            raise _refused(where, "is damaged: its parts overlap")
        parts = {name: archive.read(info) for name, info in entries.items()}
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # zipfile has classes of its own, and lets those of struct and of its readers through
        raise _refused(where, f"is damaged: {_said(error)}") from None
    if "data.pkl" not in parts:
        raise _refused(where, "is a zip archive, but not one of PyTorch's")
    return _Reader(parts, where, len(content)).result()


class _Reader:
    """Reads the steps of one pickle."""

    def __init__(self, parts: dict[str, bytes], where: str, length: int) -> None:
        self.parts, self.where, self.is_big = parts, where, parts.get("byteorder") == b"big"
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []  # what was on the stack before each mark
        self.memory: dict[int, Any] = {}
        self.storages: dict[tuple[str, Any], Any] = {}
        self.left = length + MORE_THAN_STORED  # bytes that tensors may still take

    def result(self) -> Any:
        """The object that the pickle describes."""
        try:
            for step, argument, _ in pickletools.genops(self.parts["data.pkl"]):
                if step.name == "STOP":
                    return self.stack.pop()
                self._take(step.name, argument)
        except pickle.UnpicklingError:
            raise
        except Exception as error:  # a step that does not fit what is there: as many classes as there are steps
            raise _refused(self.where, f"is damaged: {_said(error)}") from None
        raise _refused(self.where, "is cut off")

    def _take(self, step: str, argument: Any) -> None:
        stack = self.stack
        if step in _CONSTANTS:
            stack.append(_CONSTANTS[step]())
        elif step in _VALUES:
            stack.append(argument)
        elif step == "MARK":
            self.outer.append(stack)
            self.stack = []
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
            if len(stack) < count:
                raise IndexError(f"{step} of {len(stack)} items")
            stack[-count:] = [tuple(stack[-count:])]
        elif step in ("TUPLE", "APPENDS", "SETITEMS"):
            self._gather(step)
        elif step == "APPEND":
            held = stack.pop()
            self._container(list).append(held)
        elif step == "SETITEM":
            value, key = stack.pop(), stack.pop()
            self._container(dict)[self._key(key)] = value
        elif step == "BINPERSID":
            stack.append(self._storage(stack.pop()))
        elif step == "REDUCE":
            arguments, called = stack.pop(), stack.pop()
            stack.append(self._made(called, arguments))
        elif step == "BUILD":
            self._build(stack.pop())
        elif step not in ("PROTO", "FRAME"):
            raise _refused(self.where, f"has a step {step}, which containers of tensors do not need")

    def _gather(self, step: str) -> None:
        items, self.stack = self.stack, self.outer.pop()
        if step == "TUPLE":
            self.stack.append(tuple(items))
        elif step == "APPENDS":
            self._container(list).extend(items)
        else:
            self._container(dict).update(self._pairs(zip(items[::2], items[1::2], strict=True)))

    def _pairs(self, given: Any) -> list[tuple[Any, Any]]:
        return [(self._key(key), value) for key, value in given]

    def _key(self, key: Any) -> Any:
        """A key of a dictionary, or a member of a set; one of too many parts is refused before it is hashed."""
        pending, count = [key], 0
        while pending:
            part = pending.pop()
            count += 1
            if count > PARTS_OF_A_KEY:
                raise _refused(self.where, f"has a key of more than {PARTS_OF_A_KEY} parts")
            if isinstance(part, tuple):
                pending.extend(part)
            elif isinstance(part, (list, dict, set)):
                raise _refused(self.where, f"has a {type(part).__name__} for a key")
        return key

    def _container(self, kind: type) -> Any:
        if not isinstance(self.stack[-1], kind):
            raise _refused(self.where, f"changes a {type(self.stack[-1]).__name__}")
        return self.stack[-1]

    def _build(self, state: Any) -> None:
        """Attributes: the versions that a state_dict carries, the byte order of a dtype, the numbers of an array."""
        target = self.stack[-1]
        if type(target) is np.ndarray and not target.size:
            _, shape, kind, is_fortran, numbers = state
            if not isinstance(kind, _Kind) or not isinstance(numbers, bytes):
                raise _refused(self.where, "has an array that is not one of numbers")
            state = (1, shape, kind.kind, bool(is_fortran), numbers)
            target.__setstate__(state)  # which takes a truth value of Python only
        elif isinstance(target, _Kind):
            target.kind = target.kind.newbyteorder(">" if state[1] == ">" else "<")
        else:
            target = self._container(OrderedDict)
            versions = state.get("_metadata") if isinstance(state, dict) else None
            if isinstance(versions, OrderedDict):
                target._metadata = versions

    def _named(self, name: str) -> Any:
        last = name.removeprefix("torch.")
        if name in _CALLED or last in _STORAGES:
            return _Named(name)
        if name.startswith("torch.") and last in dtypes.NAMES:
            return dtypes.NAMES[last]
        raise _refused(self.where, f"would use {name} while it is read, which is refused")

    def _storage(self, given: Any) -> Any:
        _, kind, key, _, count = given
        if not isinstance(kind, _Named) or not isinstance(key, str) or type(count) is not int:
            raise _refused(self.where, "has a storage that is not described as PyTorch does")
        native = np.dtype(_STORAGES[kind.name.removeprefix("torch.")])
        if (key, native) not in self.storages:
            content = self.parts[f"data/{key}"]
            if native.kind == "b":  # a byte that is neither 0 nor 1 would make a truth value that is equal to neither
                found: Any = np.frombuffer(content, np.uint8) != 0
            else:
                stored = native.newbyteorder("big" if self.is_big else "little")
                found = np.frombuffer(content, stored).astype(native)
            if found.size < count:
                raise _refused(self.where, f"has {found.size} numbers where {count} are announced")
            self.storages[key, native] = found
        return self.storages[key, native]

    def _made(self, called: Any, arguments: Any) -> Any:
        if not isinstance(called, _Named) or not isinstance(arguments, tuple):
            raise _refused(self.where, f"calls a {type(called).__name__}")
        name = called.name
        if name == "collections.OrderedDict":
            return OrderedDict(self._pairs(arguments[0]) if arguments else ())
        if name in ("builtins.set", "__builtin__.set"):
            return {self._key(member) for member in arguments[0]} if arguments else set()
        if name == "torch.Size":
            return Size([self._length(n) for n in arguments[0]] if arguments else ())
        if name == "torch._utils._rebuild_parameter":
            if not isinstance(arguments[0], Tensor):
                raise _refused(self.where, f"has a parameter that is a {type(arguments[0]).__name__}")
            return Parameter(arguments[0], bool(arguments[1]))
        if name == "torch._utils._rebuild_tensor_v2":
            return self._tensor(*arguments[:5])
        return self._of_numpy(name.rpartition(".")[2], arguments)

    def _of_numpy(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """What arrays of NumPy's are made of."""
        if name == "encode" and isinstance(arguments[0], str):
            return arguments[0].encode("latin1")
        if name == "dtype" and isinstance(arguments[0], str) and np.dtype(arguments[0]).kind in "fciub":
            return _Kind(np.dtype(arguments[0]))
        if name == "_reconstruct":
            return np.empty(0, np.int8)
        if name == "scalar" and isinstance(arguments[0], _Kind) and isinstance(arguments[1], bytes):
            return np.frombuffer(arguments[1], arguments[0].kind)[0]
        raise _refused(self.where, f"calls {name} with what it does not take")

    def _length(self, given: Any) -> int:
        if type(given) is not int or given < 0:
            raise _refused(self.where, "has lengths that are not integers from 0 on")
        return given

    def _tensor(self, storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
        """A tensor over numbers that are there; some may be there once for several elements, within limits."""
        if not isinstance(storage, np.ndarray) or not isinstance(size, tuple) or not isinstance(stride, tuple):
            raise _refused(self.where, "has a tensor that is not described as PyTorch does")
        shape, steps = [self._length(n) for n in size], [self._length(n) for n in stride]
        start, count = self._length(offset), 1
        if len(shape) != len(steps):
            raise _refused(self.where, f"has a tensor of {len(shape)} axes with {len(steps)} strides")
        for length in shape:
            count *= length
        last = start + sum((length - 1) * step for length, step in zip(shape, steps, strict=True))
        if count and last >= storage.size:
            raise _refused(self.where, f"has a tensor that needs {last + 1} numbers, of which {storage.size} are there")
        self.left -= count * storage.itemsize
        if self.left < 0:
            raise _refused(
                self.where, f"has tensors that claim {count} elements and more, of which {storage.size} are there"
            )
        if not count:
            seen = np.empty(shape, storage.dtype)
        else:
            jumps = [step * storage.itemsize for step in steps]
            seen = np.lib.stride_tricks.as_strided(storage[start:], shape, jumps, writeable=False)
        tensor = wrap(np.array(seen))
        return tensor.requires_grad_() if requires_grad else tensor


_CALLED = {
    "collections.OrderedDict",
    "builtins.set",
    "__builtin__.set",
    "torch.Size",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_parameter",
    "_codecs.encode",
    "numpy.dtype",
    "numpy.ndarray",
    "numpy._core.multiarray._reconstruct",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray.scalar",
    "numpy.core.multiarray.scalar",
}
"""The names that a pickle may mention."""

_CONSTANTS: dict[str, Any] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}
"""What steps without an argument put on the stack."""

_VALUES = ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "SHORT_BINSTRING")
"""The steps whose argument is what they put on the stack."""


# -- writing


def write(thing: Any) -> bytes:
    """The content of a file with tensors, numbers, texts, and containers of them."""
    writer = _Writer()
    writer.put(thing)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        parts = {
            "data.pkl": b"\x80\x02" + bytes(writer.steps) + b".",
            ".format_version": b"1",
            "byteorder": sys.byteorder.encode(),
            **{f"data/{key}": content for key, content in enumerate(writer.contents)},
            "version": b"3\n",
        }
        for name, content in parts.items():  # with one date, so that the same things make the same bytes
            archive.writestr(zipfile.ZipInfo(f"archive/{name}", (1980, 1, 1, 0, 0, 0)), content)
    return file.getvalue()


class _Writer:
    """Writes the steps of one pickle, and collects the numbers of tensors."""

    def __init__(self) -> None:
        self.steps = bytearray()
        self.contents: list[bytes] = []
        self.memory: dict[int, int] = {}  # where objects are remembered that were written already
        self.held: list[Any] = []  # keeps them, so that their identities stay theirs
        self.keys: dict[tuple[int, Any], str] = {}  # the storages of tensors that share their numbers

    def put(self, item: Any) -> None:
        """Write the steps that make `item`."""
        if item is None or isinstance(item, bool):
            self.steps += {None: b"N", True: b"\x88", False: b"\x89"}[item]
        elif type(item) is int:
            self._integer(item)
        elif type(item) is float:
            self.steps += b"G" + struct.pack(">d", item)
        elif type(item) is str:
            content = item.encode("utf-8", "surrogatepass")
            self.steps += b"X" + struct.pack("<I", len(content)) + content
        elif isinstance(item, dtypes.dtype):
            self._name("torch", item.name)
        elif id(item) in self.memory:
            self.steps += b"j" + struct.pack("<I", self.memory[id(item)])
        else:
            self._object(item)

    def _integer(self, number: int) -> None:
        if -(1 << 31) <= number < 1 << 31:
            self.steps += b"J" + struct.pack("<i", number)
            return
        content = pickle.encode_long(number)
        if len(content) > 255:
            raise RuntimeError(
                f"torch.save: an integer of {len(content)} bytes cannot be stored; at most 255 bytes can"
            )
        self.steps += b"\x8a" + bytes([len(content)]) + content

    def _name(self, module: str, name: str) -> None:
        self.steps += f"c{module}\n{name}\n".encode()

    def _remember(self, item: Any) -> None:
        self.memory[id(item)] = len(self.held)
        self.held.append(item)
        self.steps += b"r" + struct.pack("<I", self.memory[id(item)])

    def _object(self, item: Any) -> None:
        if isinstance(item, Tensor):
            self._tensor(item)
        elif isinstance(item, dict):
            self._dictionary(item)
        elif isinstance(item, (np.ndarray, np.generic)):
            self._write_array(np.asarray(item), isinstance(item, np.generic))
        elif type(item) is list:
            self.steps += b"]"
            self._remember(item)
            self._several(item, b"e")
            return
        elif isinstance(item, Size):
            self._name("torch", "Size")
            self._tuple(tuple(item))
            self.steps += b"\x85R"
        elif type(item) is tuple:
            self._tuple(item)
        elif type(item) is set:
            self._name("__builtin__", "set")
            self.put(list(item))
            self.steps += b"\x85R"
        else:
            raise RuntimeError(
                f"torch.save: a {type(item).__name__} cannot be stored; files hold tensors, numbers, texts, None and "
                "dicts, lists and tuples of them, and no code.\n"
                "  fix: torch.save(model.state_dict(), path), and model.load_state_dict(torch.load(path)) into a new "
                "model"
            )
        if not isinstance(item, dict):
            self._remember(item)

    def _several(self, items: Any, step: bytes) -> None:
        if items:
            self.steps += b"("
            for part in items:
                self.put(part)
            self.steps += step

    def _tuple(self, items: tuple[Any, ...]) -> None:
        if items:
            self._several(items, b"t")
        else:
            self.steps += b")"

    def _dictionary(self, item: Any) -> None:
        if isinstance(item, OrderedDict):
            self._name("collections", "OrderedDict")
            self.steps += b")R"
        else:
            self.steps += b"}"
        self._remember(item)
        self._several([part for pair in item.items() for part in pair], b"u")
        versions = getattr(item, "_metadata", None)
        if versions is not None:
            self.put({"_metadata": versions})
            self.steps += b"b"

    def _tensor(self, tensor: Any) -> None:
        is_parameter = isinstance(tensor, Parameter)
        if is_parameter:
            self._name("torch._utils", "_rebuild_parameter")
        array = np.ascontiguousarray(tensor._numbers)
        root = tensor if tensor._base is None else tensor._base
        shares = np.shape(root._numbers) == np.shape(tensor._numbers)
        identity = (id(root) if shares else id(tensor), array.tobytes())
        if identity not in self.keys:
            self.keys[identity] = str(len(self.contents))
            self.contents.append(identity[1])
            self.held.append(root)
        self._name("torch._utils", "_rebuild_tensor_v2")
        self.steps += b"(("
        self.put("storage")
        self._name("torch", _STORAGE_OF[array.dtype])
        for part in (self.keys[identity], "cpu", array.size):
            self.put(part)
        self.steps += b"tQ"
        self._integer(0)
        shape = np.shape(tensor._numbers)
        self._tuple(shape)
        self._tuple(tuple(int(np.prod([max(n, 1) for n in shape[axis + 1 :]])) for axis in range(len(shape))))
        self.put(bool(tensor.requires_grad and tensor.is_leaf and not is_parameter))
        self._name("collections", "OrderedDict")
        self.steps += b")RtR"
        if is_parameter:
            self.put(bool(tensor.requires_grad))
            self._name("collections", "OrderedDict")
            self.steps += b")R\x87R"

    def _write_array(self, array: Any, is_number: bool) -> None:
        if array.dtype.kind not in "fciub":
            raise RuntimeError(f"torch.save: an array of dtype {array.dtype} cannot be stored; arrays of numbers can")
        content = np.ascontiguousarray(array).tobytes()
        if is_number:
            self._name("numpy._core.multiarray", "scalar")
            self._kind(array.dtype)
            self._bytes(content)
            self.steps += b"\x86R"
            return
        self._name("numpy._core.multiarray", "_reconstruct")
        self._name("numpy", "ndarray")
        self._tuple((0,))
        self._bytes(b"b")
        self.steps += b"\x87R("
        self._integer(1)
        self._tuple(array.shape)
        self._kind(array.dtype)
        self.put(False)
        self._bytes(content)
        self.steps += b"tb"

    def _kind(self, kind: Any) -> None:
        self._name("numpy", "dtype")
        for part in (kind.str[1:], False, True):
            self.put(part)
        self.steps += b"\x87R("
        for part in (3, kind.str[0], None, None, None, -1, -1, 0):
            self.put(part)
        self.steps += b"tb"

    def _bytes(self, content: bytes) -> None:
        self._name("_codecs", "encode")
        self.put(content.decode("latin1"))
        self.put("latin1")
        self.steps += b"\x86R"

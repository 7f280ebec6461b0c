"""What is assumed about objects in memory: the layouts of NumPy's array headers and of some of Python's objects.

The layout of an array header is part of the ABI of NumPy, those of tuples, bytes, lists, dictionaries, cells and types
of the ABI of Python. Each is compared with some known objects before it is relied on; where one differs (another
interpreter, a free-threaded build), there are no native entries, and functions are called in the ordinary way.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from functools import cache
from types import CellType
from typing import Any

import numpy as np

# struct PyArrayObject_fields: PyObject_HEAD, char *data, int nd, npy_intp *dimensions, npy_intp *strides,
# PyObject *base, PyArray_Descr *descr, int flags ...; in bytes from the start on a machine of 64 bits
TYPE, DATA, RANK, DIMENSIONS, DESCRIPTION, FLAGS = 8, 16, 24, 32, 56, 64
C_ORDER_AND_ALIGNED = 0x0001 | 0x0100
PY_ARRAY_SCALAR, PY_ARRAY_EMPTY = 60, 184  # their indices in the function table of NumPy
TUPLE_ITEMS, BYTES_START = tuple.__basicsize__, bytes.__basicsize__ - 1  # offsets of the first item in these objects
CELL_CONTENT, SIZE, INTEGER_DIGITS = 16, 16, 24  # offsets in cells, lists and dictionaries, integers
METH_KEYWORDS, METH_FASTCALL = 0x0002, 0x0080
PYTHON_FUNCTIONS = (
    *("PyObject_Vectorcall", "PyTuple_New", "PyTuple_SetItem", "PyTuple_Size", "PyList_New", "PyList_SetItem"),
    *("Py_IncRef", "Py_DecRef", "PyMem_RawMalloc", "PyMem_RawFree", "PyErr_NoMemory", "PyErr_Clear"),
    *("PyEval_SaveThread", "PyEval_RestoreThread", "PyContextVar_Get", "PyDict_GetItemWithError"),
    "PyList_GetItem",
)
OBJECTS = {"gradtape_none": None, "gradtape_ndarray": np.ndarray}  # by name: addresses differ between processes


class MethodDefinition(ctypes.Structure):
    """struct PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


@cache
def array_functions() -> int | None:
    """The address of the C function table of NumPy; None if array headers have another layout than is assumed here."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return None
    if sysconfig.get_config_var("Py_GIL_DISABLED") or hasattr(sys, "gettotalrefcount"):
        return None
    if not all(_header_is_known(array) for array in (np.zeros((3, 5, 7)), np.ones((4, 2), np.int8).T, np.zeros(()))):
        return None
    if not _items_are_known((object(), b"description"), b"some bytes"):
        return None
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address = get_pointer(np._core.multiarray._ARRAY_API, None)  # type: ignore[attr-defined]
    return int(address) if address else None


def _header_is_known(array: np.ndarray[Any, Any]) -> bool:
    def read(kind: Any, offset: int) -> Any:
        return kind.from_address(id(array) + offset).value

    dimensions = ctypes.cast(read(ctypes.c_void_p, DIMENSIONS), ctypes.POINTER(ctypes.c_int64))
    return bool(
        read(ctypes.c_void_p, TYPE) == id(type(array))
        and read(ctypes.c_void_p, DATA) == array.ctypes.data
        and read(ctypes.c_int, RANK) == array.ndim
        and all(dimensions[i] == n for i, n in enumerate(array.shape))
        and read(ctypes.c_void_p, DESCRIPTION) == id(array.dtype)
        and bool(read(ctypes.c_int, FLAGS) & 0x0001) == array.flags.c_contiguous
        and bool(read(ctypes.c_int, FLAGS) & 0x0100) == array.flags.aligned
    )


def _items_are_known(pair: tuple[Any, Any], text: bytes) -> bool:
    """Whether the items of tuples and bytes are at the assumed offsets; Python 3.14 moved those of tuples."""
    places = [ctypes.c_void_p.from_address(id(pair) + TUPLE_ITEMS + 8 * i).value for i in range(2)]
    return places == [id(item) for item in pair] and ctypes.string_at(id(text) + BYTES_START, len(text)) == text


@cache
def objects_are_known() -> bool:
    """Whether cells, lists, dictionaries and integers have the layouts that are assumed here."""
    item, number = object(), 5
    cell = CellType(item)
    return bool(
        array_functions()
        and _word(cell, CELL_CONTENT) == id(item)
        and _word([item] * 3, SIZE) == _word({1: 1, 2: 2, 3: 3}, SIZE) == 3
        and ctypes.c_uint32.from_address(id(number) + INTEGER_DIGITS).value == number
    )


@cache
def code_offset() -> int:
    """The offset of the code object in a function."""
    function: Any = objects_are_known.__wrapped__
    return _offset(function, function.__code__)


def slot_offset(kind: type, name: str) -> int:
    """The offset of an attribute in `__slots__`, in the objects of a class."""
    example: Any = object.__new__(kind)
    mark = object()
    setattr(example, name, mark)
    return _offset(example, mark)


def _offset(holder: Any, content: Any) -> int:
    (found,) = (n for n in range(16, type(holder).__basicsize__, 8) if _word(holder, n) == id(content))
    return found


def _word(item: Any, offset: int) -> int:
    return int(ctypes.c_void_p.from_address(id(item) + offset).value or 0)

"""Nested structures of arrays as one flat vector, and back: what solvers work on and what users think in."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.batch import BatchTensor
from gradtape.core.pytree import _rebuild, aligned, children, leaves, rebuild
from gradtape.core.tensor import Tensor
from gradtape.errors import DtypeError, OperandError, ShapeError
from gradtape.transforms.implicit.outside_tape import off_tape
from gradtape.transforms.implicit.refusal import solver_error


def leaf_paths(tree: Any, root: str) -> list[str]:
    """The name of each leaf: the `root` and the way from it, as it is written in Python.

    >>> leaf_paths({"w": [1.0, 2.0], "b": 3.0}, "x0")
    ["x0['w'][0]", "x0['w'][1]", "x0['b']"]
    """
    parts = children(tree)
    if parts is None:
        return [root]
    if isinstance(tree, dict):
        steps = [f"[{key!r}]" for key in tree]
    elif hasattr(tree, "_fields"):
        steps = [f".{name}" for name in tree._fields]
    elif dataclasses.is_dataclass(tree):
        steps = [f".{field.name}" for field in dataclasses.fields(tree)]
    else:
        steps = [f"[{index}]" for index in range(len(parts))]
    return [path for step, part in zip(steps, parts, strict=True) for path in leaf_paths(part, root + step)]


def lists_as_arrays(tree: Any) -> Any:
    """`tree` with lists and tuples of plain numbers, which SciPy takes for arrays, as arrays."""
    if _is_table(tree):
        return np.array(tree)
    parts = children(tree)
    if not parts:
        return tree
    return _rebuild(tree, [lists_as_arrays(part) for part in parts])


def _is_table(tree: Any) -> bool:
    """Whether nested lists of numbers are as long as each other, and so an array; others are a structure."""
    if not _is_numbers(tree):
        return False
    try:
        np.array(tree)
    except ValueError:
        return False
    return True


def _is_numbers(tree: Any) -> bool:
    if type(tree) not in (list, tuple) or not tree:
        return False
    return all(isinstance(x, int | float | np.number) or _is_numbers(x) for x in tree)


class Packing:
    """How a structure of real arrays is laid out in a vector: leaf after leaf, each in C order.

    >>> packing = Packing({"w": np.eye(2), "b": 3.0}, "x0")
    >>> packing.pack({"w": np.eye(2), "b": 3.0})
    array([1., 0., 0., 1., 3.])
    >>> packing.unpack(np.arange(5.0))["w"]
    array([[0., 1.],
           [2., 3.]])
    """

    def __init__(self, tree: Any, what: str) -> None:
        self.what = what
        tree = lists_as_arrays(tree)
        self.names = leaf_paths(tree, what)
        arrays = [self._checked(leaf, name) for leaf, name in zip(leaves(tree), self.names, strict=True)]
        self.shapes = [array.shape for array in arrays]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        self.dtypes = [array.dtype for array in arrays]
        self.size = sum(self.sizes)
        if not self.size:
            raise solver_error(ShapeError, f"{what} holds no numbers.", f"give {what} at least one number")
        self.dtype = np.result_type(*self.dtypes)
        self.single = children(tree) is None
        self.tree = rebuild(tree, [None] * len(arrays))
        self.start = self.pack(rebuild(tree, [off_tape(array) for array in arrays]))

    def _checked(self, leaf: Any, name: str) -> Any:
        """A leaf as a real array of floats; integers are taken for floats."""
        array: Any
        if isinstance(leaf, Tensor):
            array = leaf
        else:
            try:
                array = np.asarray(leaf)
            except ValueError:
                array = np.empty(0, object)
        if array.dtype.kind in "iub":
            array = array.astype(float)
        if array.dtype.kind == "c":
            raise solver_error(
                DtypeError, f"{name} is complex ({array.dtype}).", "real and imaginary parts as two real arrays"
            )
        if array.dtype.kind != "f":
            raise solver_error(
                OperandError,
                f"{name} is {'None' if leaf is None else 'a ' + type(leaf).__name__}; a number or an array is wanted.",
                "pass what is not to be solved for by args=(...) or as a variable of the function",
            )
        return array

    @property
    def sample(self) -> Any:
        """The numbers that the structure came with; of a batch, those of its first example."""
        sample = self.start
        while isinstance(sample, BatchTensor):
            sample = sample.value[0]
        return np.asarray(off_tape(sample)._array if isinstance(sample, Tensor) else sample)

    def pack(self, tree: Any) -> Any:
        """The vector that a structure like the first one stands for; tensors are recorded."""
        parts = aligned(self.tree, tree, self.what, "the structure given") if not self.single else [tree]
        flat = [x.reshape((-1,)) if isinstance(x, Tensor) else np.asarray(x).reshape(-1) for x in parts]
        if len(flat) == 1:
            return flat[0] if flat[0].dtype == self.dtype else flat[0].astype(self.dtype)
        return np.concatenate([x if x.dtype == self.dtype else x.astype(self.dtype) for x in flat])

    def unpack(self, flat: Any) -> Any:
        """The structure that a vector stands for."""
        if self.single:
            shape, dtype = self.shapes[0], self.dtypes[0]
            flat = flat if flat.shape == shape else flat.reshape(shape)
            return flat if flat.dtype == dtype else flat.astype(dtype)
        found, place = [], 0
        for shape, size, dtype in zip(self.shapes, self.sizes, self.dtypes, strict=True):
            part = flat[place : place + size].reshape(shape)
            found.append(part if part.dtype == dtype else part.astype(dtype))
            place += size
        return rebuild(self.tree, found)

    def handed_out(self, flat: Any) -> Any:
        """The structure of a vector as the user gets it: copies, and numbers where leaves have no axes."""
        out = [x if isinstance(x, Tensor) else np.array(x)[()] for x in leaves(self.unpack(flat))]
        return out[0] if self.single else rebuild(self.tree, out)

    def guilty(self, wrong: Callable[[Any], Any], flat: Any) -> list[tuple[str, int, int]]:
        """The leaves with elements for which `wrong` holds: name, how many, of how many."""
        flags = np.asarray(wrong(flat))
        found, place = [], 0
        for name, size in zip(self.names, self.sizes, strict=True):
            count = int(np.count_nonzero(flags[place : place + size]))
            if count:
                found.append((name, count, size))
            place += size
        return found


def describe_elements(guilty: list[tuple[str, int, int]]) -> str:
    """A few words for what `Packing.guilty` found."""
    words = [name if size == 1 else f"{name} ({count} of {size} elements)" for name, count, size in guilty[:3]]
    return ", ".join(words) + (f" and {len(guilty) - 3} more" if len(guilty) > 3 else "")


class ValuePacking:
    """The values of a function as a vector, as long in every call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.size: int | None = None

    def pack(self, value: Any) -> Any:
        """The vector of all numbers in `value`, an array or a structure of arrays; tensors are recorded."""
        flat = as_vector(value, self.name)
        if self.size is None:
            self.size = flat.size
        elif flat.size != self.size:
            raise solver_error(
                ShapeError,
                f"{self.name} returned {flat.size} values where it returned {self.size} before.",
                "return arrays of the same shapes in every call",
            )
        return flat


def as_vector(value: Any, name: str) -> Any:
    """The vector of all numbers that a function returned, leaf after leaf; `name` is the function's."""
    parts = leaves(value)
    if not parts or any(part is None for part in parts):
        raise solver_error(OperandError, f"{name} returned None.", "return an array, or a structure of arrays")
    arrays = [x if isinstance(x, Tensor) else np.asarray(x) for x in parts]
    strange = [x.dtype for x in arrays if x.dtype.kind not in "fiub"]
    if strange:
        raise solver_error(DtypeError, f"{name} returned {strange[0]}; real numbers are wanted.", "real arrays")
    flat = [x.reshape((-1,)) if x.dtype.kind == "f" else x.astype(float).reshape((-1,)) for x in arrays]
    return flat[0] if len(flat) == 1 else np.concatenate(flat)

"""Vector spaces: what kind of thing a value is, as far as sums, zeros and products go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from gradtape.extend import Tensor, aligned, children, leaves, rebuild


class VSpace:
    """The space that a value is in: its zeros and ones, sums and products. `vspace(value)` finds it.

    Nested structures are followed without one; `register` is for types of numbers and arrays of one's own.
    """

    mappings: ClassVar[dict[type, Callable[[Any], Any]]] = {}
    iscomplex = False

    def __init__(self, value: Any) -> None:
        pass

    def zeros(self) -> Any:
        """Zeros of this space."""
        raise NotImplementedError(f"{type(self).__name__} has no zeros()")

    def add(self, x_prev: Any, x_new: Any) -> Any:
        """The sum of two vectors."""
        return self._add(x_prev, x_new)

    def mut_add(self, x_prev: Any, x_new: Any) -> Any:
        """The sum of two vectors; None is zeros. No memory is written over."""
        return self._add(self.zeros() if x_prev is None else x_prev, x_new)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """A multiple of a vector."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """The inner product of two vectors, which is real."""
        return self._inner_prod(x, y)

    def covector(self, x: Any) -> Any:
        """The covector of a vector: its conjugate."""
        return self._covector(x)

    def _add(self, x: Any, y: Any) -> Any:
        return x + y

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return x * a

    def _inner_prod(self, x: Any, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _inner_prod(x, y)")

    def _covector(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{vars(self)}"

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], Any] | None = None) -> None:
        """Let `vspace` answer for a type with this space, or with what `vspace_maker(value)` gives."""
        VSpace.mappings[value_type] = vspace_maker or cls


class ArrayVSpace(VSpace):
    """Arrays of one shape and dtype."""

    def __init__(self, value: Any) -> None:
        value = value if isinstance(value, Tensor) else np.asarray(value)
        self.shape, self.dtype = value.shape, value.dtype

    @property
    def size(self) -> int:
        """The number of real numbers in a vector."""
        return int(np.prod(self.shape)) * (2 if self.iscomplex else 1)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def zeros(self) -> Any:
        """An array of zeros of the shape and dtype of the space."""
        return np.zeros(self.shape, self.dtype)

    def ones(self) -> Any:
        """Ones, in the real and in the imaginary part."""
        return np.full(self.shape, 1 + 1j if self.iscomplex else 1, self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        """One vector after the other with a single one in it."""
        for place in np.ndindex(*self.shape):
            for unit in (1.0, 1.0j) if self.iscomplex else (1.0,):
                vector = self.zeros()
                vector[place] = unit
                yield vector

    def randn(self) -> Any:
        """A vector of independent standard normal numbers."""
        drawn = np.random.randn(*self.shape)
        if self.iscomplex:
            drawn = drawn + 1j * np.random.randn(*self.shape)
        return np.asarray(drawn).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.real(np.sum(np.conj(x) * y))

    def _covector(self, x: Any) -> Any:
        return np.conj(x) if self.iscomplex else x


class ComplexArrayVSpace(ArrayVSpace):
    """Complex arrays of one shape and dtype."""

    iscomplex = True


class ContainerVSpace(VSpace):
    """Nested structures of arrays; `shape` holds the spaces of the leaves in the same structure."""

    def __init__(self, value: Any) -> None:
        self.shape = rebuild(value, [vspace(leaf) for leaf in leaves(value)])

    def _map(self, function: Callable[..., Any], *trees: Any) -> Any:
        columns = [aligned(self.shape, tree, "the space", "a vector") for tree in trees]
        return rebuild(self.shape, [function(*row) for row in zip(leaves(self.shape), *columns, strict=True)])

    @property
    def size(self) -> int:
        """The number of real numbers in a vector."""
        return sum(space.size for space in leaves(self.shape))

    def zeros(self) -> Any:
        """The container with zeros in the place of every array."""
        return self._map(lambda space: space.zeros())

    def ones(self) -> Any:
        """Ones everywhere."""
        return self._map(lambda space: space.ones())

    def randn(self) -> Any:
        """Independent standard normal numbers everywhere."""
        return self._map(lambda space: space.randn())

    def standard_basis(self) -> Iterator[Any]:
        """One vector after the other with a single one in it."""
        for number, space in enumerate(leaves(self.shape)):
            for vector in space.standard_basis():
                zeros = leaves(self.zeros())
                yield rebuild(self.shape, [*zeros[:number], vector, *zeros[number + 1 :]])

    def _add(self, x: Any, y: Any) -> Any:
        return self._map(lambda space, a, b: space.add(a, b), x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return self._map(lambda space, part: space.scalar_mul(part, a), x)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return sum(leaves(self._map(lambda space, a, b: space.inner_prod(a, b), x, y)))

    def _covector(self, x: Any) -> Any:
        return self._map(lambda space, part: space.covector(part), x)


_FLOATING = (float, complex, np.ndarray, np.inexact, Tensor)


def vspace(value: Any) -> Any:
    """The vector space of a value: an array, a number, or a nested structure of them.

    >>> import numpy as np
    >>> vspace(np.ones((2, 3))).size, vspace({"a": 1.0, "b": [2.0, 3.0]}).zeros()["a"].shape
    (6, ())
    """
    for kind in type(value).__mro__:
        if kind in VSpace.mappings:
            return VSpace.mappings[kind](value)
    if isinstance(value, _FLOATING):
        return (ComplexArrayVSpace if np.iscomplexobj(value) else ArrayVSpace)(value)
    if children(value) is not None:
        return ContainerVSpace(value)
    raise TypeError(
        f"Can't find vector space for a value of type {type(value).__name__}: it has no sums and multiples that "
        f"gradients could be made of.\n  accepted: floating point numbers and arrays, and lists, tuples, dicts and "
        f"dataclasses of them\n  fix: 1.0 instead of 1; VSpace.register(type, maker) for a type of your own"
    )

"""TensorShape: a tuple of lengths that prints and compares as TensorFlow's does. A length may be None: unknown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class TensorShape(tuple[Any, ...]):
    """The shape of a tensor: a tuple with TensorFlow's spelling.

    >>> from gradtape_standins import tensorflow as tf
    >>> shape = tf.TensorShape([2, None])
    >>> shape, print(shape), shape.rank, shape == [2, None]
    (2, None)
    (TensorShape([2, None]), None, 2, True)
    """

    __slots__ = ()

    def __new__(cls, dims: Iterable[Any] | int | None = ()) -> TensorShape:
        if dims is None or isinstance(dims, UnknownShape):
            return super().__new__(UnknownShape, ())
        if isinstance(dims, int):
            dims = (dims,)
        return super().__new__(cls, (None if d is None else int(d) for d in dims))

    @property
    def rank(self) -> Any:
        """The number of axes."""
        return len(self)

    @property
    def ndims(self) -> Any:
        """The number of axes."""
        return self.rank

    @property
    def dims(self) -> Any:
        """The lengths."""
        return list(self)

    def as_list(self) -> list[Any]:
        """The lengths as a list."""
        return list(self)

    def num_elements(self) -> Any:
        """How many elements there are; None if a length is not known."""
        count = 1
        for length in self:
            if length is None:
                return None
            count *= length
        return count

    def is_fully_defined(self) -> bool:
        """Whether every length is known."""
        return None not in tuple(self)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one array could have both shapes."""
        other = TensorShape(other)
        if isinstance(other, UnknownShape):
            return True
        return len(self) == len(other) and all(a == b or a is None or b is None for a, b in zip(self, other))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless one array could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"the shapes {self} and {TensorShape(other)} are of different arrays")

    def merge_with(self, other: Any) -> TensorShape:
        """What both shapes say together; ValueError if they say different things."""
        self.assert_is_compatible_with(other)
        shape = TensorShape(other)
        return TensorShape([m if n is None else n for n, m in zip(self, shape)]) if shape.rank is not None else self

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, if it has so many axes; else ValueError."""
        return self.merge_with([None] * rank)

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError unless there are so many axes."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape, if it has so many axes or more; else ValueError."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError if a length is not known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def concatenate(self, other: Any) -> TensorShape:
        """The lengths of both, one after the other."""
        return TensorShape((*self, *TensorShape(other)))

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return TensorShape(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> TensorShape:
        return TensorShape((*self, *other))

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape((*other, *self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | tuple) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (list(self),)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __str__(self) -> str:
        return str(tuple(self))


class UnknownShape(TensorShape):
    """The shape of which not even the number of axes is known."""

    __slots__ = ()

    @property
    def rank(self) -> Any:
        """None."""
        return None

    @property
    def dims(self) -> Any:
        """None."""
        return None

    def as_list(self) -> list[Any]:
        """Refused: there is no list."""
        raise ValueError("as_list() is not defined on an unknown TensorShape.")

    def num_elements(self) -> None:
        """None."""

    def is_fully_defined(self) -> bool:
        """False."""
        return False

    def is_compatible_with(self, other: Any) -> bool:
        """True."""
        return True

    def concatenate(self, other: Any) -> TensorShape:
        """What follows is not known either."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnknownShape)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (None,)

    def __repr__(self) -> str:
        return "TensorShape(None)"

    def __str__(self) -> str:
        return "<unknown>"


class TensorSpec:
    """What is known of a tensor before it is there: shape, dtype and name.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.TensorSpec([None, 2], tf.float32)
    TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)
    """

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        from gradtape_standins.tensorflow.dtypes import as_dtype

        self.shape = TensorShape(shape)
        self.dtype = as_dtype(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """What describes `tensor`."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor, or what another specification describes, fits this one."""
        return bool(self.dtype == other.dtype and self.shape.is_compatible_with(other.shape))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return False
        return (self.shape, self.dtype, self.name) == (other.shape, other.dtype, other.name)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.name))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class RaggedTensorSpec(TensorSpec):
    """What is known of a `tf.RaggedTensor` before it is there."""

    def __init__(
        self, shape: Any = None, dtype: Any = "float32", ragged_rank: int | None = None, row_splits_dtype: Any = "int64"
    ) -> None:
        from gradtape_standins.tensorflow.dtypes import as_dtype

        super().__init__(shape, dtype)
        self.ragged_rank = max(len(self.shape) - 1, 0) if ragged_rank is None else ragged_rank
        self.row_splits_dtype = as_dtype(row_splits_dtype)

    def __repr__(self) -> str:
        kinds = f"{self.dtype!r}, {self.ragged_rank}, {self.row_splits_dtype!r}"
        return f"RaggedTensorSpec({self.shape!r}, {kinds})"

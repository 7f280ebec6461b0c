"""Variable: a value that can be replaced, and that tapes watch by themselves."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete, leave_tape
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import Holder, value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape_standins.tensorflow.execution_context import made_while_tracing, mode, scoped
from gradtape_standins.tensorflow.shapes import TensorShape
from gradtape_standins.tensorflow.tensor import TensorLike, checked_index, repr_of, wrap


class Cell(gt.Variable):
    """gradtape's variable, which knows the one of the stand-in that it belongs to."""

    __slots__ = ("owner",)

    owner: weakref.ref[Variable]


def made_at_every_call() -> str:
    """What is said of a variable that a `tf.function` makes anew whenever it is called."""
    return explained(
        "tf.function only supports singleton tf.Variables created on the first call: a new variable is made at every "
        "call",
        "make it outside, or once: if self.v is None: self.v = tf.Variable(...)",
    )


class Variable(TensorLike):
    """`tf.Variable`: a tensor that can be assigned to.

    >>> from gradtape_standins import tensorflow as tf
    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> v.assign_add([1.0, 1.0])
    <tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    >>> v
    <tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    """

    _value: Cell

    def __new__(cls, *args: Any, **kwargs: Any) -> Variable:
        return object.__new__(ResourceVariable if cls is Variable else cls)

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if initial_value is None:
            raise ValueError(explained("tf.Variable needs an initial value", "tf.Variable(tf.zeros([2, 3]))"))
        if callable(initial_value) and not isinstance(initial_value, Holder):
            initial_value = initial_value()
        value = value_of(initial_value, dtype)
        if mode.get() == "replaying":
            raise ValueError(made_at_every_call())
        if mode.get() == "tracing":
            made_while_tracing.get().append(weakref.ref(self))
        self._name = f"{scoped(name or 'Variable')}:0"
        self._trainable = True if trainable is None else bool(trainable)
        self.constraint = constraint
        array = leave_tape(value, "tf.Variable()") if isinstance(initial_value, Holder) else concrete(value)
        if array.dtype == object:
            raise ValueError(explained("tf.Variable: strings cannot be variables in this stand-in; numbers are wanted"))
        self._value = Cell(array, trainable=self._trainable, name=name)
        self._value.owner = weakref.ref(self)
        self._declared = None if shape is None else TensorShape(shape)
        if self._declared is not None and not self._declared.is_compatible_with(self._value.shape):
            raise ValueError(explained(f"tf.Variable: shape={shape} is not the shape {self._value.shape} of the value"))

    @property
    def shape(self) -> TensorShape:
        """The length of each axis; of a variable that was declared with lengths that vary, what was declared."""
        return TensorShape(self._value.shape) if self._declared is None else self._declared

    @property
    def name(self) -> str:
        """The name that was given, with TensorFlow's `:0`."""
        return self._name

    @property
    def trainable(self) -> bool:
        """Whether tapes watch this variable by themselves."""
        return self._trainable

    @property
    def initializer(self) -> None:
        """None: a variable has its value from the beginning, and nothing has to be run for that."""
        return None

    @property
    def initial_value(self) -> Any:
        """Not kept."""
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def value(self) -> Any:
        """The present value as a tensor; the gradient passes."""
        return wrap(gt.identity(self._value) if self._value.dtype.kind in "fc" else gt.stop_gradient(self._value))

    read_value = value

    def is_initialized(self) -> bool:
        """Always true."""
        return True

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Replace the value; the shape and the dtype stay."""
        new = self._fitting(value)
        varies = self._declared is not None and self._declared.is_compatible_with(new.shape)
        if varies and new.shape != self._value.shape:
            self._value = Cell(concrete(new), trainable=self._trainable, name=self._value.name)
            self._value.owner = weakref.ref(self)
            return self._answer(read_value)
        if new.shape != self._value.shape:
            raise ValueError(
                explained(
                    f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable shape "
                    f"{self._value.shape}, and the assigned value shape {new.shape} are incompatible",
                    "a variable keeps its shape; make a new one",
                )
            )
        self._value.assign(new)
        return self._answer(read_value)

    def _at_slices(self, sparse_delta: Any, how: str) -> Any:
        """Write rows: `sparse_delta` is a `tf.IndexedSlices`."""
        return getattr(self, f"scatter_nd_{how}")(
            wrap(gt.reshape(value_of(sparse_delta.indices), (-1, 1))), sparse_delta.values
        )

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Add rows."""
        return self._at_slices(sparse_delta, "add")

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Take rows away."""
        return self._at_slices(sparse_delta, "sub")

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace rows."""
        return self._at_slices(sparse_delta, "update")

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiply rows."""
        return self._rows_changed(sparse_delta, np.multiply)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Divide rows."""
        return self._rows_changed(sparse_delta, np.divide)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """The greater of the old and the new numbers of rows."""
        return self._rows_changed(sparse_delta, np.maximum)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """The lesser of the old and the new numbers of rows."""
        return self._rows_changed(sparse_delta, np.minimum)

    def _rows_changed(self, sparse_delta: Any, change: Any) -> Any:
        array = np.array(concrete(self._value))
        change.at(array, concrete(value_of(sparse_delta.indices)), leave_tape(value_of(sparse_delta.values), "scatter"))
        return self.assign(array)

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """The rows at `indices`."""
        from gradtape_standins.tensorflow import gather_and_sort

        return gather_and_sort.gather(self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """The elements at places that are given along the last axis of `indices`."""
        from gradtape_standins.tensorflow import gather_and_sort

        return gather_and_sort.gather_nd(self, indices)

    @in_tensorflow_terms
    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Add `delta` to the value."""
        self._value.assign_add(self._fitting(delta))
        return self._answer(read_value)

    @in_tensorflow_terms
    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtract `delta` from the value."""
        self._value.assign_sub(self._fitting(delta))
        return self._answer(read_value)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace the elements at `indices`."""
        return self._scattered("tensor_scatter_nd_update", indices, updates)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add to the elements at `indices`."""
        return self._scattered("tensor_scatter_nd_add", indices, updates)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract from the elements at `indices`."""
        return self._scattered("tensor_scatter_nd_sub", indices, updates)

    def _scattered(self, how: str, indices: Any, updates: Any) -> Any:
        from gradtape_standins.tensorflow import gather_and_sort

        return self.assign(getattr(gather_and_sort, how)(wrap(gt.Tensor(concrete(self._value))), indices, updates))

    def _fitting(self, value: Any) -> Any:
        return value_of(value, self._value.dtype)

    def _answer(self, read_value: bool) -> Any:
        return _UnreadVariable(self) if read_value else None

    @in_tensorflow_terms
    def __getitem__(self, index: Any) -> Any:
        place = checked_index(index)
        return _slice_of(self._value[place], self, place)

    def __iadd__(self, other: Any) -> Any:
        raise _not_in_place("+=", "assign_add", "+")

    def __isub__(self, other: Any) -> Any:
        raise _not_in_place("-=", "assign_sub", "-")

    def __imul__(self, other: Any) -> Any:
        raise _not_in_place("*=", "assign", "*")

    def __itruediv__(self, other: Any) -> Any:
        raise _not_in_place("/=", "assign", "/")

    def __repr__(self) -> str:
        head = f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}"
        return f"{head}, numpy={repr_of(concrete(self._value))}>"

    __str__ = __repr__

    def __deepcopy__(self, memo: Any) -> Variable:
        return type(self)(concrete(self._value), self._trainable, name=self._name.removesuffix(":0"))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (concrete(self._value), self._trainable, self._name.removesuffix(":0"))


class ResourceVariable(Variable):
    """The class of the variables that `tf.Variable(...)` makes."""


class _UnreadVariable(Variable):
    """What an assignment returns: the same variable under another name."""

    def __init__(self, variable: Variable) -> None:
        self._value = variable._value
        self._trainable = variable._trainable
        self._name = "UnreadVariable"
        self._declared = variable._declared
        self._kept = variable  # the cell knows its owner weakly


def _not_in_place(operator: str, method: str, plain: str) -> RuntimeError:
    return RuntimeError(
        explained(
            f"`variable {operator} value` with `tf.Variable`s is not supported",
            f"variable.{method}(...) to change the variable, or new = variable {plain} value for a new tensor",
        )
    )


def _restored(array: Any, trainable: bool, name: str) -> Variable:
    return Variable(array, trainable=trainable, name=name)


def _slice_of(value: Any, variable: Variable, place: Any) -> Any:
    """The elements of `variable` at `place`, which can be assigned to: `v[0].assign(3.0)`."""
    found = wrap(value)

    def assign_with(change: Any) -> Any:
        def assign(new: Any) -> Any:
            array = np.array(concrete(variable._value))
            array[place] = change(array[place], leave_tape(value_of(new, variable._value.dtype), "assign"))
            return variable.assign(array)

        return assign

    found.assign = assign_with(lambda old, new: new)
    found.assign_add = assign_with(lambda old, new: old + new)
    found.assign_sub = assign_with(lambda old, new: old - new)
    return found


def variable_of(cell: Any) -> Any:
    """The variable of the stand-in that a variable of gradtape belongs to."""
    owner = cell.owner() if isinstance(cell, Cell) else None
    return cell if owner is None else owner


def is_floating(x: Any) -> bool:
    """Whether `x` is a tensor or variable of numbers that have derivatives."""
    return isinstance(x, TensorLike) and dtypes.as_dtype(x._value.dtype).numpy.kind in "fc"

"""Tensor and Variable: an array and its place in the graph.

A tensor owns its memory: no other code can write to it, and the arrays that it returns are read-only. The mathematics
of tensors (`x + y`, `x.sum()`) is in `gradtape.numpy_dispatch.methods`; here is what a tensor is, and how its value
leaves the tape.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from gradtape.core import recording
from gradtape.core.exits import node_of_pickled, note_departure, note_pickled, note_text
from gradtape.core.graph import (
    ADDED,
    AMBIENT,
    FLAGS,
    LIFTED,
    LIFTED_NODE,
    READ,
    UNTRACKED,
    VARIABLE,
    Node,
    ambient_leaves,
    leaf,
    note_ambient_leaf,
)
from gradtape.core.pytree import LEAVES
from gradtape.core.shapes import Shape
from gradtape.core.views import ViewStep, overwrite
from gradtape.explain import entry_points, messages
from gradtape.numpy_dispatch.methods import TensorMethods

if TYPE_CHECKING:
    from gradtape.explain.queries.why import Why


def _is_numerical(frame: FrameType) -> bool:
    """Whether a frame is of NumPy or `scipy.sparse`, which make numbers of parameters (`initial=`) and of elements.

    Other parts of SciPy make numbers of tolerances, by which the derivative is zero.
    """
    return str(frame.f_globals.get("__name__")).startswith(("numpy.", "scipy.sparse."))


class Tensor(TensorMethods):
    """An array on the tapes. Make one with `gt.tensor`, `tape.watch` or `gt.Variable`.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0])
    >>> x * 2
    Tensor([2., 4.])
    >>> (x * 2).shape, x.dtype
    ((2,), dtype('float64'))
    """

    # `_base`, `_step`, `_views`: see `views`; `_source`: the leaf that it was before it was written to. The last three
    # are those of interpreters' tensors: with room for them in each, writing can make one into the other
    __slots__ = (
        *("__weakref__", "_array", "_node", "_base", "_step", "_views", "_source"),
        *("_held", "_level", "_viewed"),
    )
    _base: Tensor
    _step: ViewStep
    _views: list[ref[Tensor]]
    _source: Node

    def __init__(self, array: Any, node: Node = UNTRACKED) -> None:
        self._array = array
        self._node = node

    def _replace(self, new: Any, how: str) -> Tensor:
        """Become `new`, as writing in place does; what shares the memory follows."""
        if new.shape != self.shape or not np.can_cast(new.dtype, self.dtype, "same_kind"):
            raise messages.does_not_fit_in_place(how, self.shape, self.dtype, new.shape, new.dtype)
        if new.dtype != self.dtype:
            new = new.astype(self.dtype)
        overwrite(self, new, how)
        return self

    def _note_step(self) -> None:
        """Note that the value is about to change: an optimiser's step, if its gradient was read before."""
        extra = self._node.extra
        if extra is not None and extra.use & READ and extra.grad is not None:
            entry_points.note_parameter_change(extra)

    def _become(self, new: Tensor) -> None:
        """Take over the value of `new`, and its node, unless this is a leaf that is written to off the tapes."""
        node = self._node
        is_leaf = node.op is None and node.bits > FLAGS
        is_stepped = is_leaf and not is_tracked(self)
        if is_stepped:
            self._note_step()
        elif is_leaf:
            self._source = node
        is_array = isinstance(self._array, np.ndarray)
        if type(new) is not type(self):
            new._make_alike(self)
        self._array = new._array
        if is_array:
            self._hold_array()
        if not is_stepped:
            self._node = new._node

    def _watched_node(self, bits: int) -> Node:
        """The leaf that is watched by the tapes in `bits`, also after the tensor was written to; else its node."""
        source: Node | None = getattr(self, "_source", None)
        return source if source is not None and source.bits & bits else self._node

    def _is_number(self) -> bool:
        """Whether it is one of NumPy's numbers, which are immutable, and no array: the sum of an array, an element."""
        return isinstance(self._array, np.generic)

    def _hold_array(self) -> None:
        """Be an array without axes, which can be written to, if it was a number."""
        if isinstance(self._array, np.generic):
            self._array = np.asarray(self._array)

    def _memory(self) -> Any:
        """The array that holds the numbers, whatever interpreters are around it."""
        return self._array

    def _set_memory(self, array: Any) -> None:
        """Hold the same numbers in another array."""
        self._array = array

    def _check_writable(self, how: str) -> None:
        """Raise if this is a leaf with a gradient of its own: after a write it would be no leaf any more."""
        node = self._node
        if node.op is None and node.bits & (AMBIENT | VARIABLE) and is_tracked(self):
            raise messages.leaf_written(how, self.shape)

    def _make_alike(self, other: Tensor) -> None:
        """Make `other`, about to get this value, the kind of tensor that holds it; variables stay variables."""
        if not isinstance(other, Variable):
            other.__class__ = Tensor

    # -- what it is

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        shape: Shape = self._array.shape
        return shape

    @shape.setter
    def shape(self, lengths: Any) -> None:
        self._set_shape(lengths)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        dtype: np.dtype[Any] = self._array.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        return self.dtype.itemsize

    @property
    def is_tracked(self) -> bool:
        """Whether an operation on this tensor would be recorded now."""
        return is_tracked(self)

    def __len__(self) -> int:
        if not self.shape:
            raise messages.no_length()
        return self.shape[0]

    def __hash__(self) -> int:
        # a number is found in sets and dictionaries by its value, as NumPy's are; an array is an object
        if not self._is_number():
            return object.__hash__(self)
        return hash(self._leave("hash()")[()])

    def __repr__(self) -> str:
        text = np.array2string(self._concrete(), separator=", ", prefix="Tensor(")
        dtype = "" if self.dtype in (np.float64, np.bool_, np.int64) else f", dtype={self.dtype}"
        shown = f"Tensor({text}{dtype}{', requires_grad=True' if self.requires_grad else ''})"
        return note_text(self._node, "repr()", shown, self.shape)

    def __str__(self) -> str:
        return note_text(self._node, "str()", str(self._concrete()), self.shape)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self.size != 1:
            raise messages.not_one_element(f"the format {spec!r}", self.shape)
        return note_text(self._node, "format()", format(self._concrete().item(), spec), self.shape)

    # -- how its value leaves the tape

    def _concrete(self) -> Any:
        """The value as an array; no cut is recorded."""
        return np.asarray(self._array)

    def _leave(self, how: str) -> Any:
        """The value as an array off the tape; for a tracked tensor, a cut records how and where it left."""
        self._depart(how)
        return self._concrete()

    def _depart(self, how: str) -> None:
        note_departure(self._node, how, self._concrete, self.shape)

    def numpy(self) -> Any:
        """The value as a read-only array. The gradient does not follow it.

        >>> import gradtape as gt
        >>> gt.tensor([1.0, 2.0]).numpy()
        array([1., 2.])
        """
        array = self._leave(".numpy()").view()
        array.flags.writeable = False
        return array

    def tolist(self) -> Any:
        """The value as nested lists of Python numbers."""
        return self._leave(".tolist()").tolist()

    def item(self, *index: Any) -> Any:
        """One element as a Python number: the only one, or the one with this index, or this number in flat order."""
        return self._leave(".item()").item(*index) if index else self._single(".item()").item()

    def _single(self, how: str) -> Any:
        array = self._leave(how)
        if array.size != 1:
            raise messages.not_one_element(how, array.shape)
        return array.reshape(())

    def __float__(self) -> float:
        if self._node.bits > FLAGS and _is_numerical(sys._getframe(1)) and is_tracked(self):
            raise messages.silent_detach(self.shape)
        return float(self._single("float()"))

    def __int__(self) -> int:
        return int(self._single("int()"))

    def __complex__(self) -> complex:
        return complex(self._single("complex()"))

    def __index__(self) -> int:
        return self._single("operator.index()").__index__()  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise messages.no_single_truth(self.shape)
        return bool(self._single("bool()"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if deferring and sys._getframe(1).f_code in deferring:
            held = np.empty((), object)
            held[()] = self
            return held
        if is_tracked(self):
            raise messages.silent_detach(self.shape)
        array = self._leave("np.asarray()")
        if copy or (dtype is not None and np.dtype(dtype) != array.dtype):
            return np.array(array, dtype=dtype)
        view = array.view()
        view.flags.writeable = False
        return view

    # -- copies and files

    def __copy__(self) -> Tensor:
        return +self

    def __deepcopy__(self, memo: Any) -> Tensor:
        """A copy with its gradient, as `x.copy()` is; of a leaf that `.backward()` fills, a leaf of its own."""
        bits = self._node.bits
        is_leaf = self._node.op is None and bits & AMBIENT
        if not is_leaf and self.dtype.kind != "b" and (bits & LIFTED or is_tracked(self)):
            return +self
        return tensor(self._for_storage("copy.deepcopy"), requires_grad=self.requires_grad)

    def __reduce__(self) -> tuple[Any, ...]:
        stored = self._for_storage("pickle")
        if self._node.bits > FLAGS and not self.requires_grad and is_tracked(self):
            return _from_pickle, (stored, note_pickled(self._node, self.shape))
        return tensor, (stored, None, self.requires_grad)

    def _for_storage(self, how: str) -> Any:
        if self._node.op is not None and is_tracked(self):
            raise messages.stored_while_tracked(how, self.shape)
        return self._concrete()

    # -- the ambient graph: requires_grad, grad, hooks

    @property
    def is_leaf(self) -> bool:
        """True for tensors that were not computed from tracked ones."""
        return self._node.op is None

    @property
    def requires_grad(self) -> bool:
        """Whether `.backward()` sends a gradient here or through here."""
        return bool(self._node.bits & AMBIENT)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Switch recording for `.backward()` on or off for a leaf; returns the tensor itself.

        >>> import gradtape as gt
        >>> x = gt.tensor([1.0, 2.0]).requires_grad_()
        >>> (x * x).sum().backward()
        >>> x.grad
        Tensor([2., 4.])
        """
        if not self.is_leaf:
            if requires_grad:
                return self
            raise messages.frozen_intermediate(self._node)
        if requires_grad:
            self._check_leaf()
            node = watch_node(self)
            node.bits |= AMBIENT
            note_ambient_leaf(node)
        elif self._node is not UNTRACKED:
            self._node.bits &= ~AMBIENT
            ambient_leaves.pop(id(self._node), None)
        return self

    def _check_leaf(self) -> None:
        """Raise unless it can be a leaf that `.backward()` gives a gradient."""
        check_differentiable(self.dtype, "requires_grad", self.shape)

    @property
    def grad(self) -> Any:
        """The gradient that `.backward()` has accumulated here, or None."""
        extra = self._node.extra
        if extra is None:
            return None
        extra.use |= READ
        return extra.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            self.zero_grad()
            return
        value = value if isinstance(value, Tensor) else Tensor(np.array(value, dtype=self.dtype))
        if value.shape != self.shape:
            raise messages.wrong_grad_shape(self.shape, value.shape)
        extra = watch_node(self).extras()
        if value is not extra.grad or not extra.use & ADDED:  # `w.grad *= 0.1`, before the step, clears nothing
            extra.use = 0
        extra.grad = value

    def zero_grad(self) -> None:
        """Forget the accumulated gradient: `.grad` is None again."""
        extra = self._node.extra
        if extra is not None:
            extra.grad, extra.use = None, 0

    def why(self, target: Any = None) -> Why:
        """Why `.grad` is missing or zero: which cause it is, its line and its cure. With `target`, the path from it.

        Ask with the `target` of `.backward()` before it is called, or with `retain_graph=True`: it frees the graph.

        >>> import gradtape as gt
        >>> x = gt.tensor([1.0, 2.0], requires_grad=True)
        >>> x.why((x.detach() * 2.0).sum()).code
        'GT208'
        """
        return entry_points.why_no_grad(self, target)


class Variable(Tensor):
    """A tensor whose value can be replaced, and that tapes watch by themselves when an operation reads it.

    >>> import gradtape as gt
    >>> v = gt.Variable([1.0, 2.0], name="weights")
    >>> with gt.GradientTape() as tape:
    ...     loss = (v * v).sum()
    >>> tape.gradient(loss, v)
    Tensor([2., 4.])
    >>> v.assign_sub([0.5, 0.5])
    Variable([0.5, 1.5], name='weights')
    """

    __slots__ = ("_trainable", "name")

    def __init__(self, value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None) -> None:
        array = owned_array(value, dtype)
        self._trainable = trainable
        self.name = name
        tracks = trainable and array.dtype.kind in "fc"
        super().__init__(array, leaf(array.shape, array.dtype, VARIABLE if tracks else 0))

    @property
    def trainable(self) -> bool:
        """Whether tapes watch this variable by themselves."""
        return self._trainable

    def assign(self, value: Any) -> Variable:
        """Replace the value. Shape and dtype stay; gradients do not flow through an assignment."""
        new = np.asarray(_value_off_tape(value, "Variable.assign"))
        if new.shape != self.shape:
            raise messages.wrong_assigned_shape(self.name, self.shape, new.shape)
        if not np.can_cast(new.dtype, self.dtype, "same_kind"):
            raise messages.wrong_assigned_dtype(self.dtype, new.dtype)
        self._note_step()
        self._array = np.array(new, dtype=self.dtype)
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Add `delta` to the value."""
        return self.assign(self._array + _value_off_tape(delta, "Variable.assign_add"))

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract `delta` from the value."""
        return self.assign(self._array - _value_off_tape(delta, "Variable.assign_sub"))

    def __iadd__(self, other: Any) -> Variable:
        return self.assign_add(other)

    def __isub__(self, other: Any) -> Variable:
        return self.assign_sub(other)

    def __repr__(self) -> str:
        text = np.array2string(self._concrete(), separator=", ", prefix="Variable(")
        dtype = "" if self.dtype == np.float64 else f", dtype={self.dtype}"
        shown = f"Variable({text}{dtype}{f', name={self.name!r}' if self.name else ''})"
        return note_text(self._node, "repr()", shown, self.shape)

    def __deepcopy__(self, memo: Any) -> Variable:
        return Variable(self._concrete(), self._trainable, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Variable, (self._concrete(), self._trainable, self.name)


def _from_pickle(array: Any, key: tuple[int, int]) -> Tensor:
    """A tensor that was watched by a tape when it was pickled; the tape is told if it comes back."""
    return Tensor(owned_array(array), node_of_pickled(key))


def tensor(data: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of `data`; with `requires_grad`, one that `.backward()` fills the `.grad` of.

    >>> import gradtape as gt
    >>> t = gt.tensor(2.0, requires_grad=True)
    >>> (t ** 2).backward()
    >>> t.grad
    Tensor(4.)
    """
    if isinstance(data, Tensor) and data._node.bits & LIFTED:
        fresh: Any = _copy_off_tape(data, dtype)
    else:
        fresh = Tensor(owned_array(data, dtype))
    if not requires_grad:
        return fresh  # type: ignore[no-any-return]
    fresh._check_leaf()
    lifted = fresh._node.bits & LIFTED
    node = leaf(fresh.shape, fresh.dtype, AMBIENT | lifted)
    return fresh._on(node) if lifted else Tensor(fresh._array, node)


def _copy_off_tape(data: Any, dtype: Any) -> Any:
    """A copy of an interpreter's tensor on no tape; not an array, as a traced tensor has another value in each call."""
    data._depart("gt.tensor()")
    with recording.during(recording.current().mute(True)):
        copy = data.copy() if dtype is None else data.astype(dtype)
    return copy._on(LIFTED_NODE)


def is_lazy(kind: type) -> bool:
    """Whether values of a kind are collections of Dask's, which have no numbers yet."""
    return hasattr(kind, "__dask_graph__") and kind.__module__.partition(".")[0] == "dask"


def owned_array(data: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """A fresh array with the numbers in `data`, which may be a tensor or nested sequences."""
    if isinstance(data, Tensor):
        data = data._leave("gt.tensor()")
    if is_lazy(type(data)):
        raise messages.lazy_array(type(data))
    try:
        array = np.array(data, dtype=dtype)
    except (ValueError, TypeError) as error:
        raise messages.ragged(data, error) from error
    if array.dtype.kind not in "fciub":
        raise messages.not_numbers(data, array.dtype)
    return array


LEAVES.update((Tensor, Variable))


def _value_off_tape(value: Any, how: str) -> Any:
    return value._leave(how) if isinstance(value, Tensor) else value


def plain(value: Any) -> Any:
    """The array behind a tensor; anything else as it is. Leaves no cut."""
    return value._concrete() if isinstance(value, Tensor) else value


deferring: set[Any] = set()
"""The code of functions of other libraries that hand an operation back to an operand which NumPy cannot convert."""


def is_number(value: Tensor) -> bool:
    """Whether a tensor is a number, as an element of an array is and a sum, and no array, not even one without axes."""
    return value._is_number()


def is_tracked(value: Tensor) -> bool:
    """Whether an operation on `value` would be recorded now."""
    bits, state = value._node.bits, recording.current()
    return bool(bits & state.bits or (bits & VARIABLE and state.variables))


def check_differentiable(dtype: np.dtype[Any], what: str, shape: Shape) -> None:
    """Raise unless numbers of `dtype` have derivatives."""
    if dtype.kind not in "fc":
        raise messages.no_derivative_of_dtype(what, dtype, shape)


def watch_node(value: Tensor) -> Node:
    """The node of `value`, which gets a leaf of its own if it is on no tape."""
    if value._node.bits <= FLAGS and not isinstance(value, Variable):
        value._node = leaf(value.shape, value.dtype, value._node.bits & LIFTED)
    return value._node

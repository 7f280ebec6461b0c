"""How a tensor holds its value: written in place, shared with views, with `.grad` and with NumPy's arrays.

The value (`_value`, a gradtape tensor) never changes; a write puts another in its place. A view knows the tensor it
looks at and how to look: it looks again when that was written to, and a write to the view is a write to that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Self

import numpy as np

import gradtape as gt
from gradtape.errors import MutationError
from gradtape.extend import (
    ADDED,
    AMBIENT,
    FLAGS,
    READ,
    Lifted,
    Node,
    array_of,
    concrete,
    current_recording,
    is_tracked,
    messages,
    node_of,
    note_parameter_change,
)
from gradtape.extend import Tensor as Value
from gradtape_standins.torch import dtypes, version_counter
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.grad_fn import name_node

Look = Callable[[Any], Any]


inferring: ContextVar[bool] = ContextVar("torch inference mode", default=False)
"""Whether this is inside of `inference_mode`."""


class Mirror:
    """An array of NumPy's that has the numbers of a tensor: the two are compared when the tensor is looked at."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def is_abandoned(self) -> bool:
        """Whether nobody but this object holds the array, or a view of it: then nobody can write to it any more."""
        return self.array.base is None and sys.getrefcount(self.array) <= _HELD_BY_ITS_MIRROR


_HELD_BY_ITS_MIRROR = (lambda mirror: sys.getrefcount(mirror.array))(Mirror(np.empty(1)))


class Stored:
    """A value that can be written to, and that views and arrays share."""

    _held: Any
    _linked = False  # whether the value has to be looked up: a view, a gradient, or memory that is shared with NumPy
    _base: Stored | None = None
    _look: Look | None = None  # from the value of the base to the value of this view
    _seen = 0  # the version of the base that this view has seen
    _seen_at: Node | None = None  # and its place on the graph then
    _through_data = False  # whether a write comes in behind the graph's back, as through `.detach()` and `.data`
    _silent = False  # whether it is not even noticed by gradients that need the old numbers, as through `.data`
    _written = 0
    _unnoticed = 0  # how many of the writes were silent
    _stretched = False  # whether some of the numbers of this view are the same place in memory
    _siblings = False  # whether this is one of several views that one operation made
    _retains = False  # whether the gradient is kept although this is no leaf
    _inference = False  # whether this was made in inference mode
    _place: Node | None = None  # the node whose accumulated gradient this is
    _mirror: Mirror | None = None  # the array that shares our memory as far as the user can tell

    def _blank(self) -> Any:
        """A tensor whose value is still to be set."""
        raise NotImplementedError

    # -- the value

    @property
    def _value(self) -> Any:
        if self._linked:
            self._refresh()
        return self._held

    def _refresh(self) -> None:
        """Look again at what this tensor shares its numbers with."""
        base = self._base
        if base is not None:
            value = base._value
            if self._seen != base._written:
                assert self._look is not None
                self._seen = base._written
                self._held = self._looked(value)
                self._written += 1
        if self._place is not None:
            gradient = None if self._place.extra is None else self._place.extra.grad
            if gradient is not None and gradient is not self._held:
                self._held = gradient
                self._written += 1
        if self._mirror is not None:
            if not _same_numbers(self._mirror.array, concrete(self._held)):
                self._put(Value(self._mirror.array.copy()), True, True)
            if self._mirror.is_abandoned():  # what was written to it last has arrived
                self._mirror, self._linked = None, self._base is not None or self._place is not None

    def _unlink(self) -> None:
        """No longer be the gradient of a tensor: the value stays what it is."""
        self._place = None
        self._linked = self._base is not None or self._mirror is not None

    def _looked(self, value: Any) -> Any:
        """The view of a base that was written to: at a new place on the graph if the write was recorded."""
        assert self._look is not None
        if node_of(value) is self._seen_at or self._is_leaf_of_its_own():  # only the numbers have changed
            with gt.no_grad():
                seen = self._look(value)
            return seen if isinstance(seen, Lifted) else Value(array_of(seen), node_of(self._held))
        self._seen_at = node_of(value)
        with gt.enable_grad():
            seen = self._look(value)
        if self._retains:
            self._retain_at(node_of(seen), node_of(self._held))
        return seen

    def _is_leaf_of_its_own(self) -> bool:
        """Whether this view was made a leaf that requires a gradient, by `requires_grad_`."""
        return node_of(self._held).op is None and bool(self._held.requires_grad)

    def _write(self, new: Any, how: str, cast: bool = False) -> Self:
        """Become `new`, in place: a value of the same shape; of the same kind of number too, unless `cast`."""
        with translating():
            if self._inference and not self._through_data:
                self._check_inference(how)
            old = self._value
            new = new if isinstance(new, Value) else Value(np.asarray(new))
            if new.shape != old.shape:
                if not cast:
                    raise messages.does_not_fit_in_place(how, old.shape, old.dtype, new.shape, new.dtype)
                new = gt.broadcast_to(new, old.shape)
            if new.dtype != old.dtype:
                if not cast and dtypes.category(new.dtype) > dtypes.category(old.dtype):
                    raise messages.does_not_fit_in_place(how, old.shape, old.dtype, new.shape, new.dtype)
                new = gt.astype(new, old.dtype)
            if not self._through_data:
                self._check_writable(how)
            self._put(new, self._through_data, self._silent)
        return self

    def _check_writable(self, how: str) -> None:
        """Refuse to write to a leaf that requires a gradient, or through a view of one, while recording is on."""
        if self._inference and not self._through_data:
            self._check_inference(how)
        if self._stretched:
            raise MutationError(
                messages.problem(
                    "GT309",
                    f"{how}: more than one element of a tensor of shape {self._held.shape} is the same place in memory",
                    consequence="what would be written there is not defined",
                    fixes=["x.clone() before it is written to"],
                )
            )
        if self._siblings and self._held.requires_grad and is_grad_enabled():
            raise MutationError(
                messages.problem(
                    "GT309",
                    f"{how}: this tensor of shape {self._held.shape} is one of several views that one operation made",
                    consequence="a write to one of them would change the history of the others",
                    fixes=["x.clone() of the part that is written to", "x[i] makes a single view"],
                )
            )
        root = self if self._base is None or self._through_data or self._is_leaf_of_its_own() else self._base
        value = root._value
        if node_of(value).op is None and value.requires_grad and is_grad_enabled():
            raise MutationError(
                messages.problem(
                    "GT309",
                    f"{how}: a leaf of shape {value.shape} that requires a gradient is used in an in-place operation",
                    consequence="written in place it would no longer be what the gradient is taken of",
                    fixes=[
                        "with torch.no_grad(): around an update that is not to be differentiated",
                        "y = x.clone(); y.add_(1) writes to a copy, which gradients pass",
                        "x = x + 1 makes a new tensor",
                    ],
                )
            )

    def _check_inference(self, how: str) -> None:
        """Refuse to write, outside of inference mode, to a tensor that was made in it."""
        if not inferring.get():
            raise RuntimeError(
                f"Inplace update to inference tensor outside InferenceMode is not allowed: {how} of a tensor of shape "
                f"{tuple(self._held.shape)} that was made under torch.inference_mode().\n"
                "  fix: x = x.clone() before it is written to, or torch.no_grad() where the tensor is made"
            )

    def _put(self, new: Any, behind: bool, silent: bool = False, *writers: Node) -> None:
        """Put `new` in the place of the value; `behind` the graph's back, only the numbers change.

        What is not `silent` is noticed when a gradient is taken that needs the old numbers; `writers` are the nodes of
        what was written through a view.
        """
        if self._base is not None:
            is_behind, is_silent = behind or self._through_data, silent or self._silent
            self._base._put(self._spliced(new), is_behind, is_silent, node_of(new), *writers)
            name_node(self._base._held, "CopySlices")
            self._written += 1
            return
        old = self._held
        stays = behind or (node_of(old).bits > FLAGS and not is_tracked(old) and not is_tracked(new))
        extra = node_of(old).extra
        if extra is not None and extra.use & READ and extra.grad is not None:
            note_parameter_change(extra)
        if not silent:
            version_counter.note(old, new, *writers)
        self._held = new if isinstance(new, Lifted) or not stays else Value(array_of(new), node_of(old))
        if self._retains and node_of(self._held) is not node_of(old):
            self._retain_at(node_of(self._held), node_of(old))
        self._written += 1
        self._unnoticed += silent
        place = None if self._place is None else self._place.extra
        if place is not None:
            if not place.use & ADDED or not np.any(concrete(self._held)):  # what is clipped is not cleared
                place.use = 0
            place.grad = self._held
        if self._mirror is not None:
            self._mirror.array[...] = concrete(self._held)

    def _retain_at(self, node: Node, old: Node) -> None:
        """Keep the gradient of what was written, instead of that of the numbers which were there before."""
        if old.extra is not None:
            old.extra.retain = False
        if node.op is not None:
            node.extras().retain = True

    def _spliced(self, new: Any) -> Any:
        """The value of the base with `new` where this view looks."""
        assert self._base is not None
        assert self._look is not None
        value = self._base._value
        size = int(np.prod(value.shape, dtype=int))
        places = np.asarray(self._look(np.arange(size).reshape(value.shape))).ravel()
        changed = gt.at(gt.reshape(value, (-1,)))[places].set(gt.reshape(new, (-1,)))
        return gt.reshape(changed, value.shape)

    def _viewed(self, look: Look, behind: bool = False) -> Any:
        """A tensor that shares its numbers with this one."""
        view: Any = self._blank()
        value, outer = self._value, self._look
        if self._base is None or outer is None:
            view._base, view._look = self, look
        else:
            view._base, view._look = self._base, lambda value: look(outer(value))
        view._held = look(value)
        view._seen, view._seen_at, view._linked = view._base._written, node_of(view._base._held), True
        view._through_data, view._silent = behind or self._through_data, self._silent
        if self._inference:
            view._inference = True
        return view


def is_grad_enabled() -> bool:
    """Whether operations are recorded now.

    >>> from gradtape_standins import torch
    >>> with torch.no_grad():
    ...     torch.is_grad_enabled()
    False
    """
    return bool(current_recording().bits & AMBIENT)


def _same_numbers(array: Any, value: Any) -> bool:
    return bool(np.array_equal(array, value, equal_nan=array.dtype.kind in "fc"))

"""Calls of functions that `jax.grad` and `jax.jit` have made, and the user's function behind each."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import jax
from jax.tree_util import tree_flatten_with_path, tree_leaves

from gradtape.core.location import Location, is_library
from gradtape.forking import cached_property
from gradtape.watching.jax.recorder import Program, Session, local
from gradtape.watching.jax.values import Tracer, trace_key
from gradtape.watching.record import CONSTANT, WatchedRecord


class GradientCall:
    """A call of a function that `jax.grad` or one of its kind has made."""

    def __init__(self, function: Any, argnums: Any, has_aux: bool, wants_value: bool, is_jacobian: bool) -> None:
        self.function = function
        self.argnums = argnums
        self.has_aux = has_aux
        self.wants_value = wants_value
        self.is_jacobian = is_jacobian
        self.location = Location.here()
        self.session: Session | None = None
        self.target: Any = None
        self.target_record: WatchedRecord = CONSTANT
        self.arguments: Sequence[Any] = ()
        self.result: Any = None
        self.outer: Session | None = local.order[-1] if local.order else None

    @property
    def place(self) -> tuple[int, int]:
        """What identifies the place of the call."""
        return id(self.location.code), self.location.offset


class JitCall:
    """A call of a function that `jax.jit` has made."""

    def __init__(self, proxy: Any, args: Any, kwargs: Any) -> None:
        self.proxy = proxy
        self.place: Any = proxy.place
        self._arguments = args, kwargs
        self.outer: Session | None = local.order[-1] if local.order else None
        self.program: Program | None = None

    @cached_property
    def leaves(self) -> list[Any]:
        """The leaves of the arguments."""
        return list(tree_leaves(self._arguments))

    @cached_property
    def location(self) -> Location:
        """Where the call is, if that is asked for before it has returned."""
        return Location.here()


def opened_by(call: GradientCall, function: Any, args: tuple[Any, ...]) -> Session | None:
    """The session of a call whose function JAX is calling now with tracers; None if it cannot be recorded."""
    indices = (call.argnums,) if isinstance(call.argnums, int) else tuple(call.argnums)
    count = len(args)
    wanted = [index % count for index in indices if -count <= index < count]
    tracked = [leaf for index in wanted for leaf in tree_leaves(args[index]) if isinstance(leaf, Tracer)]
    if not tracked:
        return None
    session = Session(tracked[0]._trace, call.location)
    names = argument_names(function, count)
    for index in wanted:
        for path, leaf in tree_flatten_with_path(args[index])[0]:
            if isinstance(leaf, Tracer) and trace_key(leaf._trace) == trace_key(session.trace):
                session.add_leaf(leaf, names[index] + jax.tree_util.keystr(path), True)
    return session


def gradients_of(call: GradientCall) -> list[Any]:
    """The leaves of the gradient in what a call returned."""
    result = call.result
    if call.wants_value:
        result = result[1]
    elif call.has_aux:
        result = result[0]
    return list(tree_leaves(result))


def user_function(function: Any) -> Any:
    """The user's function behind one that equinox, flax or functools made of it; the same if there is none."""
    pending, seen = [function], 0
    while pending and seen < FUNCTIONS_AT_MOST:
        each = pending.pop(0)
        seen += 1
        code = getattr(each, "__code__", None)
        if code is not None and not is_library(code.co_filename):
            return each
        held = [getattr(each, name, None) for name in ("__wrapped__", "func", "__func__")]
        held += [cell.cell_contents for cell in getattr(each, "__closure__", None) or () if not _is_empty(cell)]
        pending += [inner for inner in held if callable(inner) and not isinstance(inner, type)]
    return function


FUNCTIONS_AT_MOST = 20


def _is_empty(cell: Any) -> bool:
    try:
        return cell.cell_contents is None
    except ValueError:
        return True


def argument_names(function: Any, count: int) -> list[str]:
    """The names of the first parameters of a function, as far as they are known."""
    try:
        known = [p.name for p in inspect.signature(user_function(function)).parameters.values() if p.kind in (0, 1)]
    except (TypeError, ValueError):
        known = []
    return [known[i] if i < len(known) else f"argument {i}" for i in range(count)]


__all__ = ["GradientCall", "JitCall", "argument_names", "gradients_of", "opened_by", "user_function"]

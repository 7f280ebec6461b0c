"""Snapshot and rollback of everything that a function can change, so that it can be run once more for its messages."""

from __future__ import annotations

import dis
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.tensor import Tensor
from gradtape.jit.guards.captures import Survey
from gradtape.jit.guards.impure_reads import codes_of
from gradtape.jit.guards.rng import rewinder

if TYPE_CHECKING:
    from gradtape.jit.runtime.executable import Executable


@contextmanager
def restore_after(function: Callable[..., Any], arguments: Any, written: Iterable[Any]) -> Iterator[None]:
    """After the block, all that `function` reaches by name or through its arguments is as it was before.

    Of arrays, only those that are `written` to are looked after: it takes a copy of each.
    """
    survey = Survey((function, arguments), ambient=False)
    with ExitStack() as after:
        after.callback(rewinder(survey, ()))
        for item in survey.reached():
            _watch(item, after)
        for place in survey.leaves:
            if isinstance(place.value, Tensor):
                after.callback(_rebind, place.value, place.value._array, place.value._node)
        for array in written:
            after.callback(np.copyto, array, array.copy())
        yield


@contextmanager
def rewind_during(executable: Executable, owners: Iterable[Any], arrays: Iterable[Any]) -> Iterator[None]:
    """Inside, Variables and generators are as before the last run of `executable`, which was given `arrays`."""
    with ExitStack() as after:
        for owner, array in zip(owners, arrays, strict=True):
            if isinstance(owner, Tensor) and owner._array is not array:
                after.callback(_rebind, owner, owner._array, owner._node)
                owner._array = array
        for generator, state in zip(executable.generators, executable.states_before):
            after.callback(setattr, generator.bit_generator, "state", generator.bit_generator.state)
            generator.bit_generator.state = state
        yield


def _watch(item: Any, after: ExitStack) -> None:
    """Register the rollback of the names that a function binds, of a container, or of the attributes of an object."""
    if isinstance(item, types.FunctionType):
        stored = _find_stored_names(item.__code__)
        after.callback(item.__globals__.update, {name: item.__globals__[name] for name in stored & {*item.__globals__}})
        for name, cell in zip(item.__code__.co_freevars, item.__closure__ or (), strict=True):
            if name in stored:
                with suppress(ValueError):  # a name that is not bound yet
                    after.callback(setattr, cell, "cell_contents", cell.cell_contents)
    elif isinstance(item, list | deque):
        after.callback(_restore_list, item, list(item))
    elif isinstance(item, set):
        after.callback(_restore_set, item, set(item))
    elif isinstance(item, dict):
        after.callback(_restore_dict, item, dict(item))
    elif isinstance(getattr(item, "__dict__", None), dict):
        after.callback(_restore_dict, vars(item), dict(vars(item)))


def _find_stored_names(code: types.CodeType) -> set[str]:
    """The names outside of itself that a function binds: only these, for other threads may bind others meanwhile."""
    instructions = [instruction for part in codes_of(code) for instruction in dis.get_instructions(part)]
    return {x.argval for x in instructions if x.opname in ("STORE_GLOBAL", "STORE_DEREF")}


def _restore_list(listed: Any, items: list[Any]) -> None:
    if len(listed) != len(items) or any(one is not other for one, other in zip(listed, items, strict=True)):
        listed.clear()
        listed.extend(items)


def _restore_set(held: set[Any], items: set[Any]) -> None:
    held.clear()
    held.update(items)


def _restore_dict(held: dict[Any, Any], items: dict[Any, Any]) -> None:
    for key in [key for key in held if key not in items]:
        del held[key]
    held.update(items)


def _rebind(tensor: Tensor, array: Any, node: Any) -> None:
    tensor._array, tensor._node = array, node

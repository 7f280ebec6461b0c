"""Undo all that a function has changed, so that it can be run once more for its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from gradtape.core.tensor import Tensor
from gradtape.jit.guards.captures import Survey
from gradtape.jit.guards.rng import rewinder
from gradtape.jit.guards.snapshot import Snapshot

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
        after.callback(Snapshot(survey, written).restore)
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


def _rebind(tensor: Tensor, array: Any, node: Any) -> None:
    tensor._array, tensor._node = array, node

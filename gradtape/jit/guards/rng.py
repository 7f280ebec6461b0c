"""The states of the random generators that a function can reach: whether it has drawn, and how to undo that."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradtape.jit.guards.captures import Survey

GENERATORS = (np.random.Generator, np.random.RandomState)


def random_states(survey: Survey, values: Any) -> list[Any]:
    """The states of all generators that the function can reach, to tell whether it has drawn from one."""
    random = sys.modules.get("random")
    found = [_state(generator) for generator in find_generators(survey, values)]
    return [*map(_plain_state, found), None if random is None else hash(random.getstate())]


def find_generators(survey: Survey, values: Any) -> list[Any]:
    """The generators that the function can reach, that behind `np.random`'s functions first."""
    given = [value for value in values if isinstance(value, GENERATORS)]
    return [np.random.mtrand._rand, *survey.generators, *given]


def _state(generator: Any) -> Any:
    """The complete state of a generator; `RandomState` also caches the second of two normal numbers."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state(legacy=False)


def rewinder(survey: Survey, values: Any, with_shared: bool = False) -> Callable[[], None]:
    """A function that restores the present states of the generators within reach.

    Those behind `np.random` and `random` only on request: other threads may be drawing from them.
    """
    found = find_generators(survey, values)
    before = [(generator, _state(generator)) for generator in (found if with_shared else found[1:])]
    random = sys.modules.get("random") if with_shared else None
    python_state = None if random is None else random.getstate()

    def rewind() -> None:
        for generator, state in before:
            if isinstance(generator, np.random.Generator):
                generator.bit_generator.state = state
            else:
                generator.set_state(state)
        if random is not None:
            random.setstate(python_state)

    return rewind


def _plain_state(state: Any) -> Any:
    if isinstance(state, dict):
        return tuple([_plain_state(part) for part in state.values()])
    return state.tobytes() if isinstance(state, np.ndarray) else state

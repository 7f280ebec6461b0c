"""What a program does with an optimiser of optax: the state that it carries on, and the updates that it applies.

`update` returns the updates and a new state. A program that gives it the same state in every step makes a first step
each time: moments are never averaged, schedules stay at their beginning.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from jax.tree_util import tree_leaves

from gradtape.core.location import Location, is_library
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, source_edit
from gradtape.explain.source.expression import site_at
from gradtape.explain.source.files import one_line
from gradtape.watching.jax.recorder import Program, local
from gradtape.watching.jax.values import Tracer

STEPS_AT_LEAST = 3
PLACES_AT_MOST = 8


class _Place:
    """What was seen of the calls of `update` at one place."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.state: Sequence[Any] = ()
        self.gradients: Sequence[Any] = ()
        self.steps = 0
        self.calls = 0
        self.is_carried = False
        self.is_outside = False  # a compiled function reads the state from outside of it

    def see(self, state: Sequence[Any], gradients: Sequence[Any]) -> None:
        """See the state and the gradients of a step; the same gradients again are no other step."""
        self.calls += 1
        if self.is_carried or (self.steps and _are_same(gradients, self.gradients)):
            return
        self.is_carried = self.is_carried or (self.steps > 0 and not _are_same(state, self.state))
        self.state, self.gradients = ((), ()) if self.is_carried else (state, gradients)
        self.steps += 1


def _are_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other))


class OptimiserObserver:
    """Sees the calls of `update` that the user's program makes."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], _Place] = {}
        self._of_libraries: dict[tuple[int, int], Location] = {}  # calls of flax, where the program asked for them
        self._compiled: dict[int, tuple[Program, _Place, list[int]]] = {}  # by the id of a program, which it holds

    def see(self, gradients: Any, state: Any, location: Location) -> None:
        """See a call of `update`."""
        held = [leaf for leaf in tree_leaves(state) if hasattr(leaf, "dtype")]
        given = tree_leaves(gradients)
        if not held:
            return  # it has no state, as plain gradient descent has none
        place = self._places.setdefault((id(location.code), location.offset), _Place(location))
        if not any(isinstance(leaf, Tracer) for leaf in (*held, *given)):
            place.see(held, given)
            return
        program = next((session for session in reversed(local.order) if isinstance(session, Program)), None)
        if program is None:
            place.is_carried = True  # in a loop of JAX, which carries it
            return
        slots = {slot: index for index, slot in enumerate(program.arguments) if slot is not None}
        indices = [slots.get(program.slots.get(id(leaf), -1), -1) for leaf in held]
        if not any(isinstance(leaf, Tracer) for leaf in held):
            place.is_outside = True
        elif -1 in indices:
            place.is_carried = True  # computed in the program
            return
        self._compiled[id(program)] = program, place, [index for index in indices if index >= 0]

    def see_program(self, program: Program, leaves: Sequence[Any]) -> None:
        """See the arguments of a call of a compiled function in which `update` was called."""
        known = self._compiled.get(id(program))
        if known is not None:
            _, place, indices = known
            rest = [leaf for index, leaf in enumerate(leaves) if index not in indices]
            place.see([leaves[index] for index in indices], rest)

    def note_library(self) -> None:
        """See a call of `update` that the train state of flax makes for the program."""
        location = Location.here()
        if location.is_known and len(self._of_libraries) < PLACES_AT_MOST:
            self._of_libraries.setdefault((id(location.code), location.offset), location)

    def only_place(self) -> Location | None:
        """The only place where updates are made, again and again, from a state that is carried on."""
        if len(self._places) + len(self._of_libraries) != 1:
            return None
        for place in self._places.values():
            return place.location if place.is_carried and place.calls >= STEPS_AT_LEAST else None
        return next(iter(self._of_libraries.values()))

    def finish(self) -> None:
        """Report the places where the state was the same in all steps."""
        for place in self._places.values():
            if place.steps < STEPS_AT_LEAST or place.is_carried:
                continue
            found = _state_problem(place)
            if is_due("GT512", *found.place[1:]):
                report(found)


def _state_problem(place: _Place) -> Problem:
    site = site_at(place.location)
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    state = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
    statement = None if call is None else site.source.statement(call)
    name = "the state" if state is None else one_line(site.source.text(state))
    offered: list[str] = []
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(state, ast.Name):
        kept = target.elts[1]
        is_module = next(iter(site.source.scopes(kept)), None) is None or isinstance(
            next(iter(site.source.scopes(kept))), ast.Module
        )
        if isinstance(kept, ast.Name) and kept.id != state.id and is_module:
            offered = [source_edit(state.id, site.source.span(kept))]
    why = "is read from outside of the compiled function" if place.is_outside else "is the same in every step"
    return problem(
        "GT512",
        f"{name} {why}: the new state that update returns is not kept",
        spans=[site.span],
        consequence="every step is a first step: moments are never averaged, and schedules stay at their beginning",
        fixes=[*offered, "updates, state = tx.update(grads, state, params); a step returns it, and gets it again"],
    )


def observed_update(watcher: Any, observer: OptimiserObserver, original: Any) -> property:
    """The attribute `update` of an optimiser, which sees the calls that are not made by a library."""

    def update(optimiser: Any) -> Callable[..., Any]:
        function: Callable[..., Any] = original.__get__(optimiser, type(optimiser))
        if not watcher.is_working or local.is_judging:
            return function
        caller = sys._getframe(1).f_code
        if is_library(caller.co_filename):
            if caller.co_name == "apply_gradients":
                with watcher.guarded():
                    observer.note_library()
            return function

        @functools.wraps(function)
        def observed(gradients: Any, state: Any, *rest: Any, **named: Any) -> Any:
            result = function(gradients, state, *rest, **named)
            if watcher.is_working and not local.is_judging:
                with watcher.guarded():
                    observer.see(gradients, state, Location.here())
                    local.updates = gradients, result[0]
            return result

        return observed

    return property(update)


__all__ = ["OptimiserObserver", "observed_update"]

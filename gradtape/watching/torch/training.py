"""Optimisers and parameters: gradients that are not cleared, and parameters that do not train, and why.

What a step shows is kept until it is certain: a parameter without a gradient may get one in a later phase of the
program. It is reported when the program has ended, or has made `STEPS_UNTIL_REPORTED` steps without one.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from itertools import count
from types import FrameType
from typing import Any, NamedTuple

import torch

from gradtape.core.location import Location, is_library, is_own_file
from gradtape.explain.detectors.accumulated_grad import added_problem, missing_gradients_problem
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.graph.cuts import WITHOUT_GRAPH
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.files import span_of
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.torch import missing, registration, symmetry
from gradtape.watching.torch.calls import CallRecorder
from gradtape.watching.torch.custom import CustomFunctions
from gradtape.watching.torch.gradients import BackwardPass
from gradtape.watching.torch.missing import why_missing
from gradtape.watching.torch.recorder import TorchRecorder, is_plain, node_of, version_of

STEPS_UNTIL_REPORTED = 10
STEPS_WITHOUT_BACKWARD = 3
PASSES_WITHOUT_STEP = 3
ELEMENTS_KEPT = 1 << 16
PASSES_HELD = 8
_numbers = count(1)


class OptimiserState:
    """What is known of an optimiser."""

    def __init__(self, optimiser: Any, location: Location | None, registered: int) -> None:
        self.registered = registered  # the number of the last parameter that was registered before
        self.reference = weakref.ref(optimiser)
        self.location = location
        self.name = type(optimiser).__name__
        self.number = next(_numbers)
        self.steps = 0
        self.has_had_gradients = False
        self.stepped: Location | None = None  # where the first step is of one that has parameters to learn
        self.pending: dict[int, Pending] = {}
        self.frozen: Pending | None = None
        self.passes = 0  # that gave its parameters new gradients, while it has made no step
        self.passed: Location | None = None  # where the latest of them is
        self.values: list[tuple[weakref.ref[Any], Any]] = []  # of its first parameters, at the first of them
        self.frozen_then: list[weakref.ref[Any]] = []  # the parameters that required no gradient when it was made
        self.calls = 0  # of step, counted also while nothing is recorded
        self.replaced = False  # whether its leaf was found to be replaced by a copy
        self.has_twin = False  # whether a copy of its model gets gradients, and no optimiser has that

    def parameters(self) -> Iterator[Any]:
        """The parameters that it changes."""
        optimiser = self.reference()
        for group in [] if optimiser is None else optimiser.param_groups:
            yield from group["params"]


class Pending(NamedTuple):
    """A parameter that had no gradient, and the problem to report if it never gets one."""

    parameter: weakref.ref[Any]
    version: int
    problem: Problem
    is_certain: bool

    @classmethod
    def of(cls, parameter: Any, problem: Problem, is_certain: bool) -> Pending:
        """The parameter as it is now."""
        return cls(weakref.ref(parameter), version_of(parameter), problem, is_certain)

    def has_moved(self) -> bool:
        """Whether the parameter has a gradient, has been changed, as by a step that was not watched, or is frozen."""
        parameter = self.parameter()
        if parameter is None:
            return False
        return not parameter.requires_grad or parameter.grad is not None or version_of(parameter) != self.version


class Gradient(NamedTuple):
    """A `.grad` that a change of its parameter has used: the tensor, and its version then."""

    held: weakref.ref[Any]
    version: int

    @classmethod
    def of(cls, leaf: Any) -> Gradient:
        """The present gradient of a leaf."""
        return cls(weakref.ref(leaf.grad), version_of(leaf.grad))

    def is_held_by(self, leaf: Any) -> bool:
        """Whether a leaf has this gradient still, and it was not written to since."""
        return self.held() is leaf.grad and version_of(leaf.grad) == self.version


class Training:
    """What optimisers and parameters of a program do."""

    def __init__(self, recorder: TorchRecorder, calls: CallRecorder, tell: Callable[[Problem], Any]) -> None:
        self.recorder = recorder
        self.calls = calls
        self.tell = tell
        self.registry = registration.Registry()
        self.customs = CustomFunctions(recorder)
        self.optimisers: dict[int, OptimiserState] = {}
        self.passes: list[BackwardPass] = []
        self._spent: dict[int, Gradient] = {}
        self._added: dict[int, tuple[Gradient, Location]] = {}
        self._adding: dict[int, Location] = {}
        self._read = OptimiserState(self, None, 0)
        self._asked: set[int] = set()
        self._last_none: Problem | None = None
        self._ever_optimised: set[int] = set()
        self._unregistered: list[tuple[int, Problem]] = []
        self._with_gradient: dict[int, registration.Untrained] = {}
        self._changed: set[int] = set()
        self._symmetric: set[int] = set()
        self._used_frozen: dict[int, Location] = {}  # frozen tensors, and the last pass of what they were used for
        self._steps_made = 0
        self._added_at: dict[int, int] = {}  # how many steps had been made when a gradient was added to
        self._shared: set[int] = set()  # gradients that the pass of another optimiser has added to
        self._released: dict[int, Pending] = {}
        self._made_anew: dict[Any, tuple[int, Location]] = {}  # by place: the last layer that was made there
        self._waiting: list[Problem] = []  # what another cause may explain
        self.in_step = False
        self.has_walked_back = False  # whether the autograd engine was called at all, watched or not
        calls.changed_leaf = self.leaf_changed

    # -- modules and optimisers

    def parameter_registered(self, module: Any, name: str, parameter: Any) -> None:
        """A module got a parameter."""
        self.registry.add(module, name, parameter)

    def optimiser_made(self, optimiser: Any) -> None:
        """An optimiser was made."""
        state = OptimiserState(optimiser, Location.here(), self.registry.last)
        given = {id(p) for p in state.parameters()}
        state.frozen_then = [each for each in self.registry.frozen_now() if id(each()) not in given]
        self.optimisers[id(optimiser)] = state

    def _state_of(self, optimiser: Any) -> OptimiserState:
        state = self.optimisers.get(id(optimiser))
        if state is None or state.reference() is not optimiser:
            state = self.optimisers[id(optimiser)] = OptimiserState(optimiser, None, self.registry.last)
        return state

    def optimised(self) -> set[int]:
        """The parameters that some optimiser has."""
        return {id(p) for state in self.optimisers.values() for p in state.parameters()}

    # -- backward passes

    def before_backward(self, run: BackwardPass) -> None:
        """Notice gradients that were used and are about to be added to."""
        self._adding = {}
        self.in_step = False  # also where a step ended with an error
        if not run.accumulates or run.inputs:
            return
        for leaf in run.leaves:
            spent = self._spent.get(id(leaf))
            added = self._added.pop(id(leaf), None)
            if leaf.grad is None:
                continue
            if added is not None and added[0].is_held_by(leaf):
                is_shared = self._added_at.get(id(leaf)) != self._steps_made  # that of another optimiser was between
                self._shared.discard(id(leaf))
                self._adding[id(leaf)] = run.location if is_shared else added[1]
                if is_shared:
                    self._shared.add(id(leaf))
            elif spent is not None and spent.is_held_by(leaf) and bool(leaf.grad.any()):
                self._adding[id(leaf)] = run.location

    def after_backward(self, run: BackwardPass, result: Any, computation: RecordedComputation | None) -> None:
        """Remember the pass for the parameters that it did not reach."""
        for leaf in run.leaves:
            where = self._adding.get(id(leaf))
            if where is not None and leaf.grad is not None:
                self._added[id(leaf)] = (Gradient.of(leaf), where)
                self._added_at[id(leaf)] = self._steps_made
        if run.accumulates:
            self._used_frozen.update(dict.fromkeys(missing.frozen_behind(run.records, self.calls), run.location))
            self.passes = [*self.passes[-PASSES_HELD + 1 :], run]
            known = self._with_gradient
            optimised = self.optimised()
            for leaf in run.leaves:
                if id(leaf) in known:
                    known[id(leaf)].passes += 1
                elif is_plain(leaf):
                    entry = registration.Untrained(leaf, run, self.recorder, optimised, self.registry)
                    known[id(leaf)] = entry
            self._look_for_made_anew(run, optimised)
            pairs = [(leaf, leaf.grad) for leaf in run.leaves if id(leaf) not in run.before]
            self._count_passes(run, {id(leaf) for leaf, _ in pairs})
        else:
            given = result if isinstance(result, tuple | list) else ()
            pairs = [(leaf, gradient) for leaf, gradient in zip(run.inputs, given) if node_of(leaf) is None]
            for gradient in given if not run.creates_graph else ():
                if is_plain(gradient):
                    self.recorder.cut_from(WITHOUT_GRAPH, run.records, gradient, run.location)
        for leaf, gradient in pairs:
            is_new = id(leaf) not in self._symmetric and is_plain(leaf) and is_plain(gradient)
            if is_new and symmetry.judge(leaf, gradient, run, computation, self.recorder, self.registry):
                self._symmetric.add(id(leaf))
        self.customs.judge(run)

    def _look_for_made_anew(self, run: BackwardPass, optimised: set[int]) -> None:
        """Notice layers that are made in each forward pass: none of an optimiser's, from the same line as before."""
        stepped = [state for state in self.optimisers.values() if state.steps]
        for leaf in run.leaves:
            known = self.registry.find(leaf) if id(leaf) not in optimised else None
            if known is None or not known.by_user or not known.location.is_known:
                continue
            if any(known.number <= state.registered for state in stepped):
                continue
            place = known.location.code, known.location.offset, known.name, run.location.code, run.location.offset
            before = self._made_anew.get(place)
            self._made_anew[place] = known.number, run.location
            if not stepped or before is None or before[0] == known.number or place in self._told_anew:
                continue
            self._told_anew.add(place)
            found = registration.made_anew_problem(leaf, known, run.location, stepped[0].location)
            if is_due(found.code, *found.place[1:]):
                report(found)
            break

    @property
    def _told_anew(self) -> set[Any]:
        found: set[Any] = self.__dict__.setdefault("_told_places", set())
        return found

    def _count_passes(self, run: BackwardPass, renewed: set[int]) -> None:
        """Count the passes for optimisers that have made no step, whose gradients were cleared before."""
        for state in self.optimisers.values():
            if state.steps or state.passes > PASSES_WITHOUT_STEP:
                continue
            parameters = [p for p in state.parameters() if id(p) in renewed]
            if parameters and not state.passes:
                small = [p for p in parameters if p.numel() <= ELEMENTS_KEPT and is_plain(p)][:4]
                state.values = [(weakref.ref(p), p.detach().clone()) for p in small]
            state.passes += bool(parameters)
            state.passed = run.location

    def grad_used(self) -> None:
        """The program has read a gradient itself: it may do without the step of an optimiser."""
        self._uses_gradients = True

    _uses_gradients = False

    def custom_call(self, cls: Any, args: Any, kwargs: Any, result: Any) -> None:
        """A function with a rule of the user's was called."""
        self.customs.record(cls, args, kwargs, result)

    # -- steps

    def leaf_changed(self, leaf: Any, location: Location) -> None:
        """A leaf was written to, by the program or an optimiser: the gradient that it has is spent."""
        if self.in_step:
            return
        if leaf.grad is not None:
            self._changed.add(id(leaf))
            added = self._added.pop(id(leaf), None)
            self._spent[id(leaf)] = Gradient.of(leaf)
            if added is not None and added[0].is_held_by(leaf):
                waiting = [each.leaf() for key, each in self._with_gradient.items() if key in self._added]
                self._warn_added(added[1], [leaf, *(each for each in waiting if each is not None)])

    def grad_read(self, tensor: Any) -> None:
        """The program read a `.grad` that is None."""
        if not is_plain(tensor) or not tensor.requires_grad or id(tensor) in self._asked or not asked_by_user():
            return
        node = node_of(tensor)
        if node is None and not self.passes:
            return  # before the first backward pass
        if id(tensor) in self._changed and any(leaf is tensor for run in self.passes for leaf in run.leaves):
            return  # its gradient was used, and cleared afterwards
        self._asked.add(id(tensor))
        if node is not None and not tensor.retains_grad:
            found = self._last_none = missing.why_not_kept(tensor, self.recorder)
            if found is not None and is_due(found.code, *found.place[1:]):
                report(found)
        elif node is None:
            reason = why_missing(tensor, self.passes, self.recorder, self.calls, self.registry)
            if reason is not None:
                self._read.pending[id(tensor)] = Pending.of(tensor, reason.problem, reason.is_certain)

    def problem_of_none(self) -> Problem | None:
        """Why the gradient that the program read last is None."""
        return self._last_none or next((each.problem for each in reversed(self._read.pending.values())), None)

    def waits_for(self, optimiser: Any) -> bool:
        """Whether the next step of an optimiser is of interest although nothing is recorded any more."""
        state = self.optimisers.get(id(optimiser))
        if state is None or state.steps < STEPS_UNTIL_REPORTED:
            return True
        state.calls += 1
        return bool(state.frozen_then) and state.calls & (state.calls - 1) == 0  # 1, 2, 4, 8, ...

    def before_step(self, optimiser: Any) -> None:
        """An optimiser is about to change its parameters."""
        self.in_step = True
        state = self._state_of(optimiser)
        state.steps += 1
        if state.steps == 1 and self._waiting and not self._has_idle_optimiser():
            self._report_waiting()
        parameters = list(state.parameters())
        if state.stepped is None and any(p.requires_grad for p in parameters):
            state.stepped = Location.here()
        added = [(p, *self._added.pop(id(p))) for p in parameters if id(p) in self._added]
        places = [where for p, gradient, where in added if p.grad is not None and gradient.is_held_by(p)]
        if places:
            self._warn_added(places[0], [], any(id(p) in self._shared for p, _, _ in added))
        for key, pending in list(state.pending.items()):
            parameter = pending.parameter()
            if parameter is not None and parameter.grad is not None:
                del state.pending[key]
        state.has_had_gradients = state.has_had_gradients or any(p.grad is not None for p in parameters)
        if state.steps == 1 and self.passes:
            self._look_for_missing(state, parameters)
        if state.steps == 1:
            self._look_for_frozen(state, parameters)
        self._ever_optimised.update(map(id, parameters))
        self._look_for_released(state)
        self._look_for_replaced(state, parameters)
        for leaf in self.passes[-1].leaves if self.passes else ():
            if id(leaf) in self._with_gradient:
                self._with_gradient[id(leaf)].precedes_step = True
        if state.steps in (1, 2, STEPS_UNTIL_REPORTED):
            self._look_for_unregistered()
        if state.steps == STEPS_UNTIL_REPORTED:
            self._report_unregistered()
            self._report(state)

    def after_step(self, optimiser: Any) -> None:
        """An optimiser has changed its parameters."""
        self.in_step = False
        location = Location.here()
        for parameter in self._state_of(optimiser).parameters():
            if parameter.grad is not None:
                self._spent[id(parameter)] = Gradient.of(parameter)
                self.recorder.note_write(parameter, f"{type(optimiser).__name__}.step", location)
        self.passes = []
        self._steps_made += 1

    def _look_for_missing(self, state: OptimiserState, parameters: list[Any]) -> None:
        """Find out why parameters have no gradient at the first step, while that is known."""
        wanted = [p for p in parameters if p.requires_grad and p.grad is None and is_plain(p)]
        if not wanted:
            return
        everything = len(wanted) == sum(p.requires_grad for p in parameters)
        if everything and not self._reaches_others(wanted):
            everything = False
        for parameter in wanted:
            found = why_missing(parameter, self.passes, self.recorder, self.calls, self.registry)
            if found is not None:
                state.pending[id(parameter)] = Pending.of(parameter, found.problem, found.is_certain)
        if everything and not any(each.is_certain and each.problem.code != "GT202" for each in state.pending.values()):
            ran = self.passes[-1].location
            problem = missing_gradients_problem(state.name, len(wanted), state.location, ran)
            state.pending = {id(p): Pending.of(p, problem, True) for p in wanted[:1]}

    def _look_for_frozen(self, state: OptimiserState, parameters: list[Any]) -> None:
        """Notice an optimiser all of whose parameters are frozen, although the loss is computed with them."""
        if not parameters or any(p.requires_grad or not is_plain(p) for p in parameters):
            return
        found = missing.why_frozen(parameters, self._used_frozen, self.calls, state.name, state.location)
        if found is not None:
            state.frozen = Pending.of(parameters[0], found, True)

    def _look_for_released(self, state: OptimiserState) -> None:
        """Notice parameters that get gradients, and were frozen when the optimiser was made, which left them out."""
        if self._released:
            self._report_released()  # noticed at an earlier step, and unchanged by it
        if not state.frozen_then or state.location is None:
            return
        optimised = self.optimised()
        for reference in state.frozen_then:
            parameter = reference()
            if parameter is None or not parameter.requires_grad or parameter.grad is None or id(parameter) in optimised:
                continue
            if self._is_of_trained_model(parameter, optimised):
                where = self.calls.required.get(id(parameter))
                found = registration.released_problem(
                    parameter, self.registry, state.location, None if where is None else where[1]
                )
                self._released[id(parameter)] = Pending.of(parameter, found, True)
                state.frozen_then = []
                return

    def _is_of_trained_model(self, parameter: Any, optimised: set[int]) -> bool:
        """Whether an optimiser has other parameters of the model that a parameter belongs to."""
        known = self.registry.find(parameter)
        module = None if known is None else known.module()
        root = None if module is None else registration.root_of(module, self.registry.parents())
        return root is not None and any(id(p) in optimised for p in torch.nn.Module.parameters(root))

    def _look_for_replaced(self, state: OptimiserState, parameters: list[Any]) -> None:
        """Notice a leaf of the optimiser that has no gradient any more, because a copy of it is used in its place."""
        if state.steps < 2 or state.replaced or not self.passes or any(p.grad is not None for p in parameters):
            return
        for parameter in parameters:
            goal = self.recorder.record_of(parameter)
            for leaf in [leaf for run in self.passes for leaf in run.leaves]:
                copy = self.recorder.record_of(leaf)
                if goal is not None and leaf is not parameter and missing.is_copy_of(copy, goal):
                    found = registration.replaced_problem(copy, self.passes[-1].location, state.location)
                    state.replaced = True
                    state.pending[id(parameter)] = Pending.of(parameter, found, True)
                    return

    def _reaches_others(self, wanted: list[Any]) -> bool:
        """Whether the backward passes reached parameters at all, if not those of the optimiser."""
        return any(leaf is not p for run in self.passes for leaf in run.leaves for p in wanted)

    # -- what is reported

    def finish(self) -> None:
        """Report what is certain now."""
        self._report_unregistered()
        self._report_released()
        self._report_no_step()
        self._report_waiting()
        for state in (*self.optimisers.values(), self._read):
            if state.steps < STEPS_UNTIL_REPORTED:
                self._report(state)

    def _report(self, state: OptimiserState) -> None:
        told: set[Any] = set()
        if not self.has_walked_back and not state.has_had_gradients and state.steps >= STEPS_WITHOUT_BACKWARD:
            self._report_no_backward(state)
        frozen = None if state.frozen is None else state.frozen.problem
        if frozen is not None and not any(p.requires_grad for p in state.parameters()):
            told.add(frozen.place)
            if is_due(frozen.code, *frozen.place[1:]):
                report(frozen)
        state.frozen = None
        for pending in state.pending.values():
            if pending.problem.place in told or pending.has_moved():
                continue
            told.add(pending.problem.place)
            place = pending.problem.place
            if not is_due(pending.problem.code, *place[1:]):
                continue
            if pending.is_certain:
                report(pending.problem)
            else:
                self.tell(pending.problem)
        state.pending.clear()

    def _report_released(self) -> None:
        """Report parameters that were released after the optimiser was made, and that nothing has changed since."""
        optimised = self.optimised()
        for key, pending in self._released.items():
            parameter = pending.parameter()
            if parameter is None or key in optimised or version_of(parameter) != pending.version:
                continue
            if is_due(pending.problem.code, *pending.problem.place[1:]):
                report(pending.problem)
        self._released.clear()

    def _warn_added(self, where: Location, leaves: list[Any], is_shared: bool = False) -> None:
        """Warn of gradients that were added up; later, if an optimiser that makes no step may be the cause of it."""
        found = added_problem(where, leaves, is_shared)
        if found is None:
            return
        self._waiting.append(found)
        if not self._has_idle_optimiser():
            self._report_waiting()

    def _has_idle_optimiser(self) -> bool:
        """Whether gradients were computed for an optimiser that has made no step."""
        return any(not state.steps and state.passes for state in self.optimisers.values())

    def _report_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for found in waiting[:1]:
            report(found)

    def _report_no_step(self) -> None:
        """Report an optimiser that has made no step although its gradients were computed and cleared again."""
        if self._uses_gradients:
            return
        for state in self.optimisers.values():
            held = [(p, before) for reference, before in state.values if (p := reference()) is not None]
            is_still = bool(held) and all(before.equal(p.detach()) for p, before in held)
            if state.passes < PASSES_WITHOUT_STEP or not is_still or state.location is None or state.passed is None:
                continue
            found = problem(
                "GT512",
                f"step() of this {state.name} was never called, although gradients were computed for it",
                spans=[
                    span_of(state.location).labelled("made here"),
                    span_of(state.passed).labelled("computes gradients, which are cleared again"),
                ],
                consequence="no parameter changes, however many steps are made",
                fixes="optimizer.step() after loss.backward(), with its parentheses",
            )
            self._waiting.clear()  # its gradients are there for the step of another one
            if is_due(found.code, *found.place[1:]):
                report(found)

    def _report_no_backward(self, state: OptimiserState) -> None:
        """Report steps of an optimiser in a program that has never called backward, nor set a gradient itself."""
        if state.stepped is None:
            return
        found = problem(
            "GT512",
            f"{state.name} made {state.steps} steps, and backward() was never called: no parameter has a gradient",
            spans=[state.stepped],
            consequence="a step without gradients changes nothing",
            fixes="loss.backward() between zero_grad() and step(), with its parentheses",
        )
        if is_due(found.code, *found.place[1:]):
            report(found)

    def _look_for_unregistered(self) -> None:
        """Find parameters that get gradients and that no optimiser has, while they are there."""
        stepped = [state for state in self.optimisers.values() if state.steps]
        optimised = self.optimised()
        entries = [
            entry
            for key, entry in self._with_gradient.items()
            if key not in optimised and key not in self._changed and entry.leaf() is not None
        ]
        self._unregistered = list(registration.unregistered(entries, self.registry, stepped, optimised))
        leaves = [self._with_gradient[key].leaf() for key, _ in self._unregistered]
        for state in stepped:
            own = list(state.parameters())
            state.has_twin = any(self.registry.is_of_twin(leaf, own) for leaf in leaves)

    def _report_unregistered(self) -> None:
        """Report parameters that get gradients and that no optimiser has."""
        stepped = [state for state in self.optimisers.values() if state.steps]
        explained = [state for state in stepped if any(each.problem.code != "GT202" for each in state.pending.values())]
        if not all(state.has_twin and not state.has_had_gradients for state in explained):
            return
        for key, found in self._unregistered:
            if key in self._ever_optimised or key in self._changed:
                continue
            for state in stepped:  # they are there in the place of others, which is why these are not used
                state.pending.clear()
            if is_due(found.code, *found.place[1:]):
                report(found)
        self._unregistered = []


def asked_by_user() -> bool:
    """Whether a file of the user's reads what is being read, and not a function of a library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and not is_library(frame.f_code.co_filename)


__all__ = ["Training"]

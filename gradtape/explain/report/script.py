"""Collects the problems and the gradients of a whole script for one report."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import explain_hooks
from gradtape.core.explain_hooks import Cotangents, Finish, FinishedWalk
from gradtape.core.graph import AMBIENT, LIFTED, Node
from gradtape.core.location import Location
from gradtape.core.pytree import leaves
from gradtape.core.tensor import Tensor
from gradtape.explain.emit.listeners import listening, without_listeners
from gradtape.explain.graph.replay import Replay, is_concrete, is_custom
from gradtape.explain.model.problem import Problem
from gradtape.explain.report.facts import Facts, collect
from gradtape.explain.report.page import Report
from gradtape.explain.report.paths import names_of_sources
from gradtape.explain.report.steps import Steps
from gradtape.source_names import name_of_file

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape

PLACES_AT_MOST = 12
PROBLEMS_AT_MOST = 500

_active: list[Collector] = []


class Collector:
    """Collects every problem, and facts of the gradients taken inside its `with` block, for one report of them all.

    A line that asks for gradients repeatedly is examined the first, second, fourth, eighth time and so on, and the
    last examination counts. Facts are folded by source line: they grow with the program, not with its running time.

    >>> import gradtape as gt
    >>> x = gt.Variable(1.0)
    >>> with gt.explain.report.Collector() as collector:
    ...     for _ in range(5):
    ...         with gt.GradientTape() as tape:
    ...             loss = (x - 3.0) ** 2
    ...         _ = x.assign_sub(0.1 * tape.gradient(loss, x))
    >>> [facts.calls for facts in collector.gradients], collector.problems
    ([5], [])
    """

    def __init__(self, title: str = "", is_private: bool = False) -> None:
        self.title = title
        self._is_private = is_private  # whether reports of tapes leave out what is collected here
        self.problems: list[Problem] = []
        self.timelines: list[Any] = []  # of compiled functions, when collecting ended
        self._facts: dict[tuple[int, int], Facts] = {}  # which keep the code objects, and so their ids, alive
        self._calls: dict[tuple[int, int], int] = {}
        self._steps: dict[tuple[int, int], Steps] = {}
        self._trained: dict[tuple[int, int], int] = {}
        self._training: dict[tuple[int, int], Steps] = {}  # steps of training loops that told of them
        self._timers: dict[Callable[[bool], Callable[[], list[Any]]], Callable[[], list[Any]]] = {}
        self._left_out = 0
        self._stack = ExitStack()

    @property
    def gradients(self) -> list[Facts]:
        """The facts of each line that asked for gradients."""
        for place, facts in self._facts.items():
            facts.calls = self._calls[place]
            facts.steps = self._training.get(place) or self._steps.get(place)
        return list(self._facts.values())

    def __enter__(self) -> Collector:
        if not self._is_private:
            self._stack.enter_context(listening(self.add_problem))
            _active.append(self)
        self._timers = {timer: timer(False) for timer in explain_hooks.timers}
        explain_hooks.observers.append(self.observe)
        explain_hooks.walk_observers.append(self.observe_step)
        explain_hooks.step_observers.append(self.observe_training_step)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            with without_listeners():
                for timer in explain_hooks.timers:
                    end = self._timers.get(timer) or timer(True)
                    self.timelines += end()
        explain_hooks.observers.remove(self.observe)
        explain_hooks.walk_observers.remove(self.observe_step)
        explain_hooks.step_observers.remove(self.observe_training_step)
        if not self._is_private:
            _active.remove(self)
        self._stack.close()

    def add_problem(self, problem: Problem) -> None:
        """Keep a problem; called with every one that is reported or raised."""
        if len(self.problems) < PROBLEMS_AT_MOST:
            self.problems.append(problem)

    def observe(
        self,
        seeds: Iterable[tuple[Node, Any]],
        mask: int,
        sources: Iterable[Node] | None,
        boundary: Container[Node],
    ) -> Finish | None:
        """Called before every backward pass, while the whole graph exists.

        Where the graph has custom rules, the facts are collected after the pass, from what those rules returned.
        """
        seeds = list(seeds)
        if not seeds or not all(isinstance(seed, np.ndarray | np.generic) for _, seed in seeds):
            return None
        where = Location.here()
        place = id(where.code), where.offset
        if place not in self._calls and len(self._calls) >= PLACES_AT_MOST:
            self._left_out += 1
            return None
        calls = self._calls[place] = self._calls.get(place, 0) + 1
        if calls & (calls - 1):  # only when it is a power of two
            return None
        wanted = None if sources is None else list(sources)
        nodes = Replay(seeds, mask, boundary).records

        def take(given: Cotangents | None, failed: Exception | None) -> None:
            self._facts[place] = self._facts_or_failure(seeds, mask, wanted, boundary, where, nodes, given, failed)

        if any(is_custom(node) for node in nodes):
            return take
        take(None, None)
        return None

    def observe_step(self, walk: FinishedWalk) -> None:
        """Called after every backward pass that was observed; keeps its loss, norms and parameters as a step."""
        where = Location.here()
        place = id(where.code), where.offset
        number, facts = self._calls.get(place, 0), self._facts.get(place)
        if not number or facts is None or not _is_number(walk.targets):
            return
        steps = self._steps.setdefault(place, Steps())
        if not steps.wants(number):
            return
        nodes = sorted(walk.gradients, key=lambda node: node.order) if walk.sources is None else walk.sources
        tape = _tape_of(walk.seeds, walk.mask)
        asked = None if tape is None else tape.sources_asked
        held: dict[Node, Any] = {} if asked is None else dict(zip(asked[0], leaves(asked[1]), strict=False))
        norms: dict[int, float] = {}
        parameters: dict[int, Any] = {}
        for index, node in enumerate(dict.fromkeys(nodes)):
            gradient = walk.gradients.get(node)
            if isinstance(gradient, np.ndarray | np.generic):
                norms[index] = float(np.linalg.norm(gradient))
            value = held.get(node)
            value = value._array if isinstance(value, Tensor) else value
            if isinstance(value, np.ndarray | np.generic):
                parameters[index] = value
        is_fresh = not number & (number - 1)
        steps.add(number, float(walk.targets[0].reshape(())), norms, parameters, facts if is_fresh else None)

    def observe_training_step(
        self, where: Location, loss: float, names: Sequence[str], before: Sequence[Any], after: Sequence[Any]
    ) -> None:
        """Called by a training loop after each of its steps."""
        place = id(where.code), where.offset
        steps = self._training.setdefault(place, Steps())
        self._trained[place] = number = self._trained.get(place, 0) + 1
        steps.add_update(number, loss, names, before, after)

    def observe_elsewhere(self, where: Location, collect: Callable[[], Facts]) -> None:
        """Called after a gradient that another library took, with a function that collects its facts."""
        place = id(where.code), where.offset
        if place not in self._calls and len(self._calls) >= PLACES_AT_MOST:
            self._left_out += 1
            return
        calls = self._calls[place] = self._calls.get(place, 0) + 1
        if not calls & (calls - 1):  # when it is a power of two
            self._facts[place] = collect()

    def _facts_or_failure(
        self,
        seeds: list[tuple[Node, Any]],
        mask: int,
        wanted: list[Node] | None,
        boundary: Container[Node],
        where: Location,
        nodes: list[Node],
        given: Cotangents | None,
        failed: Exception | None,
    ) -> Facts:
        """The facts of a backward pass that begins now, is over or has failed; or why it could not be examined."""
        words = f"The gradient asked for at {where} is one of vmap, or of a loop that jit compiled as a whole."
        try:
            if failed is None and all(is_concrete(node) for node in nodes):
                with without_listeners():
                    return self._collect_facts(seeds, mask, wanted, boundary, where, given)
        except Exception as error:  # the backward pass itself raises it too, for the user
            failed = error
        if failed is not None:
            words = f"The gradient asked for at {where} could not be looked at: {type(failed).__name__}."
        return Facts(where, missing=words, sized=False)

    def _collect_facts(
        self,
        seeds: list[tuple[Node, Any]],
        mask: int,
        wanted: list[Node] | None,
        boundary: Container[Node],
        where: Location,
        given: Cotangents | None,
    ) -> Facts:
        from gradtape.explain.report.build import find_reasons

        tape = _tape_of(seeds, mask)
        variables = {} if tape is None else tape._variables
        asked = None if tape is None else tape.sources_asked
        names = {} if asked is None else names_of_sources(*asked)
        names |= {node: variable.name for node, variable in variables.items() if variable.name}
        facts = collect(seeds, mask, wanted, boundary, asked=where, names=names, given=given)
        is_traced = any(node.bits & LIFTED for node, _ in seeds)  # then its problems are found when it is executed
        if not is_traced and (tape is not None or mask & AMBIENT):
            facts.verdicts = find_reasons(facts, seeds, wanted or [], mask, tape, variables, may_walk=given is None)
        return facts

    def report(self) -> Report:
        """The report of everything that was collected."""
        from gradtape.explain.report.build import merge_problems

        gradients = self.gradients
        own = [verdict for facts in gradients for verdict in facts.verdicts]
        first = next((facts.asked for facts in gradients if facts.asked is not None), None)
        title = self.title or ("Gradients" if first is None else name_of_file(first.file))
        return Report(title, gradients, merge_problems(self.problems, own), self.timelines)


def _is_number(targets: Sequence[Any]) -> bool:
    """Whether one real number was differentiated, and is known: a traced one is not asked for its value."""
    if len(targets) != 1 or not isinstance(targets[0], np.ndarray | np.generic):
        return False
    return targets[0].size == 1 and targets[0].dtype.kind == "f"


def _tape_of(seeds: Sequence[tuple[Node, Any]], mask: int) -> GradientTape | None:
    """The tape that recorded what is differentiated; None where it is not recorded by one."""
    from gradtape.core.tape import GradientTape

    recorders = getattr(seeds[0][0].recording, "recorders", ()) if seeds else ()
    return next((r for r in recorders if r.bit & mask and isinstance(r, GradientTape)), None)


def facts_collected_at(where: Location) -> Facts | None:
    """The facts that an active collector has of the gradients taken at a location."""
    for collector in reversed(_active):
        facts = collector._facts.get((id(where.code), where.offset))
        if facts is not None:
            return facts
    return None

"""Listening to a whole script: every problem that is spoken, and a look at the gradients that are taken."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import numpy as np

from gradtape.core import graph
from gradtape.core.graph import AMBIENT, LIFTED, Cotangents, Finish, Node
from gradtape.core.location import Location
from gradtape.explain.emit.policy import listening, unheard
from gradtape.explain.graph.replay import Replay, is_concrete, is_custom
from gradtape.explain.model.problem import Problem
from gradtape.explain.report.facts import Facts, collect
from gradtape.explain.report.page import Report

PLACES_AT_MOST = 12
PROBLEMS_AT_MOST = 500

_listening: list[Collector] = []


class Collector:
    """Hears every problem and looks at the gradients taken inside its `with` block, for one report of them all.

    A line that asks for gradients again and again is looked at the first, second, fourth, eighth time and so on, and
    the last look counts. What is kept is folded by source line: it grows with the program, not with its running time.

    >>> import gradtape as gt
    >>> x = gt.Variable(1.0)
    >>> with gt.explain.report.Collector() as heard:
    ...     for _ in range(5):
    ...         with gt.GradientTape() as tape:
    ...             loss = (x - 3.0) ** 2
    ...         _ = x.assign_sub(0.1 * tape.gradient(loss, x))
    >>> [facts.calls for facts in heard.gradients], heard.problems
    ([5], [])
    """

    def __init__(self, title: str = "", is_private: bool = False) -> None:
        self.title = title
        self._is_private = is_private  # whether the reports of tapes do not show what is collected here
        self.problems: list[Problem] = []
        self._facts: dict[tuple[int, int], Facts] = {}  # which keep the code objects alive
        self._calls: dict[tuple[int, int], int] = {}
        self._left_out = 0
        self._stack = ExitStack()

    @property
    def gradients(self) -> list[Facts]:
        """The facts of each line that asked for gradients."""
        for place, facts in self._facts.items():
            facts.calls = self._calls[place]
        return list(self._facts.values())

    def __enter__(self) -> Collector:
        if not self._is_private:
            self._stack.enter_context(listening(self.hear))
            _listening.append(self)
        graph.observers.append(self.look)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        graph.observers.remove(self.look)
        if not self._is_private:
            _listening.remove(self)
        self._stack.close()

    def hear(self, problem: Problem) -> None:
        """Told of every problem that is spoken."""
        if len(self.problems) < PROBLEMS_AT_MOST:
            self.problems.append(problem)

    def look(
        self,
        seeds: Iterable[tuple[Node, Any]],
        mask: int,
        sources: Iterable[Node] | None,
        beginnings: Container[Node],
    ) -> Finish | None:
        """Called before every walk back, when the whole graph is still there.

        Where custom rules are on the way the facts are collected after the walk, from what those rules gave.
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
        nodes = Replay(seeds, mask, beginnings).nodes

        def take(given: Cotangents | None, failed: Exception | None) -> None:
            self._facts[place] = self._looked(seeds, mask, wanted, beginnings, where, nodes, given, failed)

        if any(is_custom(node) for node in nodes):
            return take
        take(None, None)
        return None

    def _looked(
        self,
        seeds: list[tuple[Node, Any]],
        mask: int,
        wanted: list[Node] | None,
        beginnings: Container[Node],
        where: Location,
        nodes: list[Node],
        given: Cotangents | None,
        failed: Exception | None,
    ) -> Facts:
        """The facts of a walk that begins now, or that is over or has failed; what cannot be looked at is said."""
        words = f"The gradient asked for at {where} is one of vmap, or of a loop that jit compiled as a whole."
        try:
            if failed is None and all(is_concrete(node) for node in nodes):
                with unheard():
                    return self._collected(seeds, mask, wanted, beginnings, where, given)
        except Exception as error:  # the walk itself meets it too, and says it to the user
            failed = error
        if failed is not None:
            words = f"The gradient asked for at {where} could not be looked at: {type(failed).__name__}."
        return Facts(where, missing=words, sized=False)

    def _collected(
        self,
        seeds: list[tuple[Node, Any]],
        mask: int,
        wanted: list[Node] | None,
        beginnings: Container[Node],
        where: Location,
        given: Cotangents | None,
    ) -> Facts:
        from gradtape.core.tape import GradientTape
        from gradtape.explain.report.build import explained

        state = seeds[0][0].recording
        recorders = getattr(state, "recorders", ())
        tape = next((r for r in recorders if r.bit & mask and isinstance(r, GradientTape)), None)
        variables = {} if tape is None else tape._variables
        names = {node: variable.name for node, variable in variables.items() if variable.name}
        facts = collect(seeds, mask, wanted, beginnings, asked=where, names=names, given=given)
        is_traced = any(node.bits & LIFTED for node, _ in seeds)  # what is wrong there is found when it is not
        if not is_traced and (tape is not None or mask & AMBIENT):
            facts.verdicts = explained(facts, seeds, wanted or [], mask, tape, variables, may_walk=given is None)
        return facts

    def report(self) -> Report:
        """The report of all that was heard."""
        from gradtape.explain.report.build import merged

        gradients = self.gradients
        own = [verdict for facts in gradients for verdict in facts.verdicts]
        first = next((facts.asked for facts in gradients if facts.asked is not None), None)
        title = self.title or ("Gradients" if first is None else os.path.basename(first.file))
        return Report(title, gradients, merged(self.problems, own))


def heard_at(where: Location) -> Facts | None:
    """What the collectors that listen now saw of the gradients taken at a line."""
    for collector in reversed(_listening):
        facts = collector._facts.get((id(where.code), where.offset))
        if facts is not None:
            return facts
    return None

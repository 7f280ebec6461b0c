"""Listening to a whole script: every problem that is spoken, and a look at the gradients that are taken."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import numpy as np

from gradtape.core import graph
from gradtape.core.graph import AMBIENT, Node
from gradtape.core.location import Location
from gradtape.explain.problem import Problem
from gradtape.explain.report.collect import Facts, collect
from gradtape.explain.report.page import Report
from gradtape.explain.voices import listening

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

    def __init__(self, title: str = "") -> None:
        self.title = title
        self.problems: list[Problem] = []
        self._facts: dict[tuple[int, int], Facts] = {}  # which keep the code objects alive
        self._calls: dict[tuple[int, int], int] = {}
        self._left_out = 0
        self._busy = False
        self._stack = ExitStack()

    @property
    def gradients(self) -> list[Facts]:
        """The facts of each line that asked for gradients."""
        for place, facts in self._facts.items():
            facts.calls = self._calls[place]
        return list(self._facts.values())

    def __enter__(self) -> Collector:
        self._stack.enter_context(listening(self.hear))
        graph.observers.append(self.look)
        _listening.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        graph.observers.remove(self.look)
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
    ) -> None:
        """Told of every walk back before it begins, when the whole graph is still there."""
        seeds = list(seeds)
        if self._busy or not seeds or not all(isinstance(seed, np.ndarray | np.generic) for _, seed in seeds):
            return
        where = Location.here()
        place = id(where.code), where.offset
        if place not in self._calls and len(self._calls) >= PLACES_AT_MOST:
            self._left_out += 1
            return
        calls = self._calls[place] = self._calls.get(place, 0) + 1
        if calls & (calls - 1):  # only when it is a power of two
            return
        self._busy = True
        try:
            wanted = None if sources is None else list(sources)
            self._facts[place] = self._collected(seeds, mask, wanted, beginnings, where)
        except Exception as error:  # the walk that follows meets it too, and says it to the user
            words = f"The gradient asked for at {where} could not be looked at: {type(error).__name__}."
            self._facts[place] = Facts(where, missing=words, sized=False)
        finally:
            self._busy = False

    def _collected(
        self,
        seeds: list[tuple[Node, Any]],
        mask: int,
        wanted: list[Node] | None,
        beginnings: Container[Node],
        where: Location,
    ) -> Facts:
        from gradtape.core.tape import GradientTape
        from gradtape.explain.report.request import explained

        state = seeds[0][0].recording
        recorders = getattr(state, "recorders", ())
        tape = next((r for r in recorders if r.bit & mask and isinstance(r, GradientTape)), None)
        variables = {} if tape is None else tape._variables
        names = {node: variable.name for node, variable in variables.items() if variable.name}
        facts = collect(seeds, mask, wanted, beginnings, asked=where, names=names)
        if tape is not None or mask & AMBIENT:
            facts.verdicts = explained(facts, seeds, wanted or [], mask, tape, variables)
        return facts

    def report(self) -> Report:
        """The report of all that was heard."""
        from gradtape.explain.report.request import merged

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

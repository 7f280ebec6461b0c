"""Folds the places of a gradient into one group per source line, or per function if there are many lines."""

from __future__ import annotations

import linecache
import math
from dataclasses import dataclass, field
from typing import Any

from gradtape.core.shapes import Shape
from gradtape.explain.report.facts import Edge, ExpressionGroup, Facts
from gradtape.explain.report.paths import pattern_of
from gradtape.explain.report.spread import Spread
from gradtape.source_names import name_of_file

GROUPS_DRAWN = 90  # more lines than these are folded by function
LEAVES_DRAWN = 24  # more leaves than these are folded by line
LEAVES_APART = 10  # more leaves than these are folded: the same parameter of repeated layers is one node
STATES = {
    "flows": "gradient flows",
    "zero": "gradient is zero",
    "cut": "gradient is cut here",
    "constant": "constant: no gradient",
    "unknown": "gradient not known",
}


@dataclass
class Group:
    """One node of the drawing: the operations of a source line, or one leaf."""

    number: int
    key: Any
    file: str
    line: int
    label: str
    kind: str  # "line", "leaf", "left" or "function"
    places: list[ExpressionGroup] = field(default_factory=list)
    is_known: bool = True  # whether it is known where gradients arrived
    carried: Edge | None = None  # what a loop passes from one step to the next
    stretches: list[tuple[Shape, Shape]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many times the line was executed; of leaves, how many they are."""
        return (sum if self.kind == "leaf" else max)(place.count for place in self.places)

    @property
    def result(self) -> ExpressionGroup:
        """The outermost operation: the one that was executed last; of leaves, the largest."""
        if self.kind == "leaf":
            return max(self.places, key=lambda place: math.prod(place.shape))
        return max(self.places, key=lambda place: (place.kind == "operation", place.last))

    @property
    def order(self) -> float:
        """The position of the first operation in the recording."""
        return min(place.order for place in self.places)

    @property
    def shape(self) -> Shape | None:
        """The shape of the result; None for a value that left the tape."""
        return None if self.result.kind in ("cut", "left") else self.result.shape

    @property
    def saved(self) -> int:
        """How many bytes the operations of the group keep."""
        return sum(place.saved for place in self.places)

    @property
    def gradient(self) -> Spread | None:
        """The gradient at the result; of leaves, that of all together."""
        found = [place.gradient for place in self.places if place.gradient is not None]
        if self.kind != "leaf" or len(found) < 2:
            return self.result.gradient if self.kind != "leaf" else next(iter(found), None)
        together = Spread()
        for each in found:
            together.add(each)
        return together

    @property
    def size(self) -> float | None:
        """The root mean square of the gradient at the result; NaN if some of it is not finite."""
        spread = self.gradient
        if spread is None:
            return None
        return math.nan if spread.bad else spread.rms

    @property
    def cuts(self) -> list[str]:
        """What cut the gradient off in this line."""
        return list(dict.fromkeys(place.name for place in self.places if place.cuts))

    @property
    def state(self) -> str:
        """Whether a gradient flows here; "cut" if it ends in this line because of a cut."""
        passes_on = any(place.gains[0] for place in self.places)
        if self.cuts and not passes_on:
            return "cut"
        if not self.is_known:
            return "unknown"
        if any(place.arrived > place.zero for place in self.places):
            return "flows"
        if any(place.arrived for place in self.places):
            return "zero"
        return "constant"

    @property
    def birth(self) -> str:
        """What is said of the first NaN or infinity if it was made here; else empty."""
        return next((place.birth for place in self.places if place.birth), "")

    @property
    def gain(self) -> float | None:
        """The gain of the gradient over all operations of the line together."""
        gains = [place.gain for place in self.places if place.gain is not None]
        return math.prod(gains) if gains else None

    @property
    def is_target(self) -> bool:
        """Whether the gradient was taken of a result of this group."""
        return any(place.is_target for place in self.places)

    @property
    def is_source(self) -> bool:
        """Whether the gradient was taken by a value of this group."""
        return any(place.is_source for place in self.places)

    @property
    def where(self) -> str:
        """File name and line, for a reader."""
        return f"{name_of_file(self.file)}:{self.line}" if self.line else "an unknown line"


@dataclass
class FoldedGraph:
    """The groups of one gradient, in the order in which they were first executed, and the edges between them."""

    groups: list[Group]
    edges: dict[tuple[int, int], Edge]

    def at(self, file: str, line: int) -> list[Group]:
        """The groups of a source line, the operations first."""
        found = [group for group in self.groups if (group.file, group.line) == (file, line)]
        return sorted(found, key=lambda group: group.kind == "leaf")


def fold(facts: Facts, most: int = GROUPS_DRAWN) -> FoldedGraph:
    """The graph folded by source line; also by function if it has more than `most` lines."""
    apart = _leaf_keys([place for place in facts.places.values() if place.kind == "leaf"])
    folded = _fold(facts, lambda place: _by_line(place, apart))
    if len(folded.groups) > most:
        folded = _fold(facts, lambda place: _by_function(place, apart))
    if len(folded.groups) > most:
        known = {group.key for group in folded.groups[: most - 1]}
        folded = _fold(facts, lambda place: _or_rest(_by_function(place, apart), known))
    return folded


def _leaf_keys(leaves: list[ExpressionGroup]) -> dict[Any, tuple[Any, ...]]:
    """The group of each leaf that is not folded by line: itself, or where there are many, all of one name or path.

    Numbers in paths do not tell apart: layers are repeated. Where that is not enough, what has one parent is one group.
    """
    leaves = sorted(leaves, key=lambda place: (not place.is_source, place.order))
    if len(leaves) <= LEAVES_APART:
        return {place.key: ("leaf", place.key) for place in leaves}
    patterns = {place.key: pattern_of(place.name) for place in leaves}
    if len(set(patterns.values())) > LEAVES_APART:
        patterns = {key: pattern.rpartition(".")[0] or pattern for key, pattern in patterns.items()}
    drawn = set(list(dict.fromkeys(patterns.values()))[:LEAVES_DRAWN])
    return {key: ("alike", pattern) for key, pattern in patterns.items() if pattern in drawn}


def by_line(facts: Facts) -> FoldedGraph:
    """The graph folded by source line, however many there are."""
    return _fold(facts, lambda place: _by_line(place, {}))


def _by_line(place: ExpressionGroup, apart: dict[Any, tuple[Any, ...]]) -> tuple[Any, ...]:
    if place.kind == "leaf":
        return apart.get(place.key) or ("leaves", place.location.file, place.location.line)
    return ("left" if place.kind == "left" else "line", place.location.file, place.location.line)


def _by_function(place: ExpressionGroup, apart: dict[Any, tuple[Any, ...]]) -> tuple[Any, ...]:
    if place.kind in ("leaf", "left"):
        return _by_line(place, apart)
    code = place.location.code
    return ("function", place.location.file, "?" if code is None else code.co_qualname)


def _or_rest(key: tuple[Any, ...], known: set[Any]) -> tuple[Any, ...]:
    return key if key in known else ("rest",)


def _fold(facts: Facts, key_of: Any) -> FoldedGraph:
    groups: dict[Any, Group] = {}
    group_of: dict[Any, Group] = {}
    for place in sorted(facts.places.values(), key=lambda place: (place.order, place.last)):
        key = key_of(place)
        group = groups.get(key)
        if group is None:
            kind = {"leaves": "leaf", "alike": "leaf", "rest": "function"}.get(key[0], key[0])
            location = place.location
            label = _label(key, place)
            group = groups[key] = Group(len(groups), key, location.file, location.line, label, kind)
            group.is_known = facts.sized
        group.places.append(place)
        group_of[place.key] = group
    for group in groups.values():
        if group.key[0] == "alike" and len(group.places) == 1:
            group.label = group.places[0].name
    edges: dict[tuple[int, int], Edge] = {}
    for (parent, child), edge in facts.edges.items():
        one, other = group_of[parent], group_of[child]
        if edge.stretch is not None and edge.stretch not in other.stretches and len(other.stretches) < 4:
            other.stretches.append(edge.stretch)
        if one is not other:
            _join(edges, (one.number, other.number), edge)
        elif facts.places[parent].order >= facts.places[child].order and other.count > 1:
            other.carried = edge  # a later operation of the line feeds an earlier one: the next step of a loop
    return FoldedGraph(list(groups.values()), edges)


def _label(key: tuple[Any, ...], place: ExpressionGroup) -> str:
    if key[0] == "leaf":
        return place.name
    if key[0] == "alike":
        return str(key[1])
    if key[0] == "function":
        return "module level" if key[2] == "<module>" else f"{key[2]}()"
    if key[0] == "rest":
        return "everything else"
    if place.kind == "left":
        return place.name
    text = linecache.getline(place.location.file, place.location.line).strip()
    return " ".join(text.split()) or place.name


def _join(edges: dict[tuple[int, int], Edge], key: tuple[int, int], edge: Edge) -> None:
    found = edges.get(key)
    if found is None:
        edges[key] = Edge(edge.kind, edge.count, edge.squares, edge.sized, edge.bad, edge.stretch, edge.reason)
        return
    rank = ["flow", "cut", "unknown", "left", "none"]
    found.kind = min(found.kind, edge.kind, key=rank.index)
    found.count += edge.count
    found.squares += edge.squares
    found.sized += edge.sized
    found.bad = found.bad or edge.bad
    found.stretch = found.stretch or edge.stretch
    found.reason = found.reason or edge.reason

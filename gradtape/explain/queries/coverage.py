"""`tape.coverage()`: the lines of the source through which a gradient flowed, as a table for tests."""

from __future__ import annotations

import gc
import linecache
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradtape.core.graph import Cut, Node
from gradtape.core.location import Location
from gradtape.errors import TapeError
from gradtape.source_names import name_of_file

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape

FLOWS, STOPPED, MISSING = "flows", "stopped", "missing"
_RANK = {MISSING: 0, STOPPED: 1, FLOWS: 2}
_MARKS = {FLOWS: "+", STOPPED: ".", MISSING: "-"}
_ON_PURPOSE = {"stop_gradient", "no_grad", ".numpy()", ".item()", ".tolist()"}

FileLine = tuple[str, int]


@dataclass(frozen=True)
class Coverage:
    """For each line that was recorded, whether a gradient flowed through it; made by `tape.coverage()`.

    A line "flows" when an operation on it lies on a path from the target to a source, is "stopped" when its value was
    taken off the tape on purpose (stop_gradient, detach, no_grad, `.numpy()`), and is "missing" otherwise. Two of them
    are merged by `|`: a line flows if it did in either.

    >>> import gradtape as gt
    >>> w = gt.Variable([0.5, 1.5])
    >>> with gt.GradientTape(persistent=True) as tape:
    ...     smooth = (w * w).sum()
    ...     loss = smooth + gt.round(w).sum()
    >>> _ = tape.gradient(loss, w)
    >>> coverage = tape.coverage()
    >>> coverage.assert_covered()
    >>> len(coverage.covered), coverage.missing
    (2, [])
    """

    lines: dict[FileLine, str]
    reasons: dict[FileLine, str] = field(default_factory=dict)

    @property
    def covered(self) -> list[FileLine]:
        """The lines through which a gradient flowed: pairs of a file and a line number."""
        return sorted(place for place, state in self.lines.items() if state == FLOWS)

    @property
    def missing(self) -> list[FileLine]:
        """The lines that were recorded, but through which none flowed, and that nothing in the code meant to stop."""
        return sorted(place for place, state in self.lines.items() if state == MISSING)

    def __or__(self, other: Coverage) -> Coverage:
        if not isinstance(other, Coverage):
            return NotImplemented
        merged = dict(self.lines)
        for place, state in other.lines.items():
            merged[place] = max(merged.get(place, MISSING), state, key=_RANK.__getitem__)
        return Coverage(merged, {**self.reasons, **other.reasons})

    def assert_covered(self, *wanted: str | Callable[..., Any]) -> None:
        """Raise an AssertionError that lists the lines without a gradient, unless there are none.

        With `wanted`, only these are looked at: lines such as "model.py:12", which must carry a gradient whether they
        were recorded or not, or functions, all of whose recorded lines must, and at least one.
        """
        bad = [place for want in wanted for place in self._uncovered(want)] if wanted else self.missing
        if not bad:
            return
        rows = [self._row(place) for place in sorted(set(bad))]
        count = f"{len(rows)} line{'s' * (len(rows) > 1)}"
        raise AssertionError(
            "\n".join(
                [
                    f"no gradient flowed through {count}:",
                    *rows,
                    "  fix: let the target depend on it; or say that it was meant: gt.stop_gradient, gt.no_grad()",
                ]
            )
        )

    def _uncovered(self, want: str | Callable[..., Any]) -> list[FileLine]:
        """The places that `want` stands for and that carry no gradient."""
        if callable(want):
            code = getattr(want, "__wrapped__", want).__code__
            last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
            inside = [p for p in self.lines if p[0] == code.co_filename and code.co_firstlineno <= p[1] <= last]
            if not inside:
                return [(code.co_filename, code.co_firstlineno)]
            return [place for place in inside if self.lines[place] == MISSING]
        name, _, line = want.rpartition(":")
        if not name or not line.isdigit():
            raise ValueError(f"assert_covered: {want!r}; a line is written file.py:12")
        number = int(line)
        found = [p for p in self.lines if p[1] == number and (p[0] == name or name_of_file(p[0]) == name)]
        if not found:
            return [(name, number)]
        return [place for place in found if self.lines[place] != FLOWS]

    def _row(self, place: FileLine) -> str:
        file, line = place
        source = linecache.getline(file, line).strip()
        reason = self.reasons.get(place, "" if place in self.lines else "nothing was recorded on this line")
        return f"  {name_of_file(file)}:{line}   {source}" + (f"   ({reason})" if reason else "")

    def __str__(self) -> str:
        marked = [f"{_MARKS[state]} {self._row(place)[2:]}" for place, state in sorted(self.lines.items())]
        head = f"gradient flowed through {len(self.covered)} of {len(self.lines)} recorded lines"
        return "\n".join([head + (" (+ flows, . stopped on purpose, - missing)" if marked else ""), *marked])


def coverage(tape: GradientTape) -> Coverage:
    """The coverage of the gradients that a persistent tape was last asked for: the result of `tape.coverage()`."""
    if not tape.persistent:
        raise TapeError(
            "coverage: this tape is not persistent, so that what it recorded was let go with the first gradient.\n"
            f"{Location.here().show()}\n  fix: gt.GradientTape(persistent=True)"
        )
    asked = [
        ([node for ref in targets if (node := ref()) is not None], [node for ref in sources if (node := ref())])
        for targets, sources in tape._asked
    ]
    if not any(targets for targets, _ in asked):
        gone = "the target is gone" if asked else "no gradient was asked of this tape"
        raise TapeError(
            f"coverage: {gone}, so there is nothing to tell.\n{Location.here().show()}\n"
            "  fix: tape.gradient(target, sources) first, and keep the target until then"
        )
    chart = _LineStates(tape.mask)
    for targets, sources in asked:
        chart.trace(targets, set(sources))
    for node in recorded_nodes(tape):
        chart.mark(node, MISSING)
    return Coverage(chart.lines(), chart.reasons)


def recorded_nodes(tape: GradientTape) -> list[Node]:
    """The recorded operations of `tape` that are alive, oldest first. The tape keeps no list: the gc is searched."""
    found = [o for o in gc.get_objects() if type(o) is Node and o.bits & tape.bit and o.op is not None]
    return sorted(found, key=lambda node: node.order)


class _LineStates:
    """The state (flows, stopped, missing) of each line, collected from the nodes."""

    def __init__(self, mask: int) -> None:
        self.mask = mask
        self.states: dict[Node, str] = {}
        self.reasons: dict[FileLine, str] = {}
        self._places: dict[tuple[int, int], FileLine] = {}

    def mark(self, node: Node, state: str) -> None:
        before = self.states.get(node, MISSING)
        self.states[node] = max(before, state, key=_RANK.__getitem__)

    def trace(self, targets: Iterable[Node], sources: set[Node]) -> None:
        """Mark the nodes between `targets` and `sources`, and the cuts on the way."""
        reached = self._ancestors(targets)
        carries = set(sources)
        for node in sorted(reached, key=lambda node: node.order):
            if node.op is not None and any(parent in carries for parent in node.parents):
                carries.add(node)
                self.mark(node, FLOWS)
            elif node.op is not None and node not in carries:
                self.mark(node, STOPPED)  # leads to the target, but from another source than was asked for
        cuts = [target for target in targets if isinstance(target, Cut)]
        cuts += [parent for node in reached for parent in node.parents if isinstance(parent, Cut)]
        for cut in cuts:
            for part in cut.joined or (cut,):
                self._mark_cut(part)

    def _mark_cut(self, cut: Cut) -> None:
        meant = cut.reason in _ON_PURPOSE
        self.mark(cut, STOPPED if meant else MISSING)
        self.reasons[self.line_of(cut)] = f"the value left the tape at {cut.reason}"
        if meant:
            for node in self._ancestors([node for ref in cut.sources if (node := ref()) is not None]):
                if node.op is not None:
                    self.mark(node, STOPPED)

    def _ancestors(self, nodes: Iterable[Node]) -> dict[Node, None]:
        reached: dict[Node, None] = {}
        pending = [node for node in nodes if node.bits & self.mask]
        while pending:
            node = pending.pop()
            if node not in reached:
                reached[node] = None
                pending.extend(parent for parent in node.parents if parent.bits & self.mask)
        return reached

    def line_of(self, node: Node) -> FileLine:
        key = (id(node.code), node.offset)  # hashing a code object is slow; the nodes keep it alive
        if key not in self._places:
            location = node.location
            self._places[key] = (location.file, location.line)
        return self._places[key]

    def lines(self) -> dict[FileLine, str]:
        found: dict[FileLine, str] = {}
        for node, state in self.states.items():
            place = self.line_of(node)
            if place[1]:
                found[place] = max(found.get(place, MISSING), state, key=_RANK.__getitem__)
        self.reasons = {place: why for place, why in self.reasons.items() if found.get(place) != FLOWS}
        return found

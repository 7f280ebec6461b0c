"""The facts of one gradient: a second backward pass that measures the gradient along every edge of the graph.

Facts are folded at once by the expression in the user's code, so that a loop of a million steps takes no more memory
than its body. The program is not affected: hooks and custom rules are not called, nothing is released, and a function
that is being traced is examined with the arrays of the present call.
"""

from __future__ import annotations

import gc
import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.backprop import _fit
from gradtape.core.explain_hooks import Cotangents, parameter_containers
from gradtape.core.graph import LIFTED_NODE, PARTS, UNTRACKED, Cut, Node, Spec, departures
from gradtape.core.location import Location
from gradtape.core.operation import Lifted, Op
from gradtape.core.saved_arrays import LockedArray
from gradtape.core.shapes import Shape
from gradtape.core.tensor import Tensor
from gradtape.explain.graph.replay import is_custom, recorded_values
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Record
from gradtape.explain.report.names import name_of
from gradtape.explain.report.paths import paths_within
from gradtape.explain.report.spread import Spread

SIZES_KEPT = 128  # of the gradient at one place, over the steps of a loop
SPREADS_TAKEN = 32  # of the values at one place, and then of every sixteenth
SHAPES_KEPT = 4
LARGEST_REPLAY = 1 << 20  # elements of a result that is recomputed for its spread
LEAVES_APART = 200  # more leaves are folded by the line that made them
UNREACHED_FOLLOWED = 100_000  # nodes behind cuts that are visited


@dataclass
class ExpressionGroup:
    """All operations of one expression in the user's code (or one leaf, or one cut), folded into one."""

    key: Any
    kind: str  # "operation", "leaf", "cut" (its gradient ends here) or "left" (a value that left as a plain number)
    name: str  # of the operation; of the leaf in the user's code; why it is a cut
    location: Location
    order: float = math.inf  # when the first of them was made
    last: float = -1
    count: int = 0
    shape: Shape = ()  # of the last one
    dtype: str = ""
    shapes: dict[Shape, int] = field(default_factory=dict)
    saved: int = 0
    values: Spread | None = None
    gradient: Spread | None = None
    arrived: int = 0  # at how many of them a gradient arrived
    zero: int = 0  # at how many it was exactly zero
    sizes: list[float] = field(default_factory=list)  # of the gradient, the last step first
    stride: int = 1
    gains: list[float] = field(default_factory=lambda: [0.0, 0.0, math.inf, -math.inf])  # number, sum of logs, ends
    birth: str = ""  # "forward" or "backward": finite numbers became NaN or infinite here
    is_target: bool = False
    is_source: bool = False
    units: int = 0  # of rectifiers, and how many of them are zero for all examples
    dead: int = 0
    cuts: int = 0  # for a cut: how many operations would have sent a gradient here, had it not been one

    def meet(self, node: Record) -> None:
        """Add a node; the latest comes first."""
        if node.order >= self.last:
            self.last, self.shape, self.dtype = node.order, node.shape, str(node.dtype)
        if self.kind != "cut":  # a cut has no order of its own: it precedes what was computed from it
            self.order = min(self.order, node.order)
        self.count += 1
        if node.shape in self.shapes or len(self.shapes) < SHAPES_KEPT:
            self.shapes[node.shape] = self.shapes.get(node.shape, 0) + 1

    def size(self, rms: float) -> None:
        """Record the size of the gradient at one node; of many nodes, only every `stride`-th is kept."""
        if (self.arrived - 1) % self.stride == 0:
            self.sizes.append(rms)
            if len(self.sizes) > SIZES_KEPT:
                del self.sizes[1::2]
                self.stride *= 2

    @property
    def wants_spread(self) -> bool:
        """Whether the numbers of one more operation are counted: all at first, then one in 16."""
        return self.count < SPREADS_TAKEN or self.count % 16 == 0

    @property
    def gain(self) -> float | None:
        """The factor by which the gradient grows in the operation: the geometric mean over all nodes."""
        number, logs = self.gains[:2]
        return math.exp(logs / number) if number else None


@dataclass
class Edge:
    """The connection of two places. `kind`: "flow", "cut", "left", "none" (no derivative) or "unknown"."""

    kind: str
    count: int = 0
    squares: float = 0.0
    sized: int = 0
    bad: bool = False
    stretch: tuple[Shape, Shape] | None = None  # the shape of the operand and of the result, where it was stretched
    reason: str = ""

    @property
    def size(self) -> float | None:
        """The root mean square of the gradient that passes; None where it is not known."""
        return math.sqrt(self.squares / self.sized) if self.sized else None


@dataclass
class GradientSource:
    """One of the tensors that the gradient was requested for."""

    name: str
    shape: Shape
    dtype: str
    location: Location
    key: Any
    gradient: Spread | None = None
    gradient_shape: Shape | None = None
    reason: Problem | None = None


@dataclass
class Facts:
    """One gradient: its places and edges, targets and sources, and what is not known (`missing`)."""

    asked: Location | None
    places: dict[Any, ExpressionGroup] = field(default_factory=dict)
    edges: dict[tuple[Any, Any], Edge] = field(default_factory=dict)
    sources: list[GradientSource] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    missing: str = ""
    steps: Any = None  # what is known of the steps, if the line asked repeatedly
    calls: int = 1  # how many times the gradient was requested at this line
    verdicts: list[Problem] = field(default_factory=list)
    sized: bool = True  # whether gradients were sent through it; else only the structure is known

    @property
    def operations(self) -> int:
        """How many operations were recorded."""
        return sum(place.count for place in self.places.values() if place.kind == "operation")

    @property
    def saved(self) -> int:
        """How many bytes the recording keeps."""
        return sum(place.saved for place in self.places.values())


def live_tensors() -> dict[Node, Tensor]:
    """The live tensors by their nodes."""
    return _live_objects()[0]


def _live_objects() -> tuple[dict[Node, Tensor], list[Any]]:
    """The live tensors by their nodes, and the containers of parameters, such as modules.

    There is no list of them, so the objects of the garbage collector are searched. Tensors of an interpreter are left
    out: reading the node of a traced one would end the detection of a loop by `jit`.
    """
    kinds: dict[type, str] = {}
    found: dict[Node, Tensor] = {}
    containers = []
    for item in gc.get_objects():
        kind = type(item)
        what = kinds.get(kind)
        if what is None:
            is_tensor = issubclass(kind, Tensor) and not issubclass(kind, Lifted)
            is_container = not is_tensor and any(base in parameter_containers for base in kind.__mro__)
            what = kinds[kind] = "tensor" if is_tensor else "container" if is_container else ""
        if what == "tensor":
            if not isinstance(item, Lifted) and hasattr(item, "_node"):
                found[item._node] = item
        elif what:
            containers.append(item)
    found.pop(UNTRACKED, None)
    found.pop(LIFTED_NODE, None)
    return found, containers


def collect(
    seeds: Iterable[tuple[Node, Any]],
    mask: int,
    sources: Sequence[Node] | None = None,
    boundary: Container[Node] = (),
    *,
    asked: Location | None = None,
    names: dict[Node, str] | None = None,
    others: Iterable[Node] = (),
    sized: bool = True,
    given: Cotangents | None = None,
) -> Facts:
    """The facts of the gradient that `seeds` send back along the tapes in `mask`; the graph stays as it is.

    `given` are the cotangents that custom rules returned, which are then not called; without it they are.

    `others` are further nodes to show, from which the target was not computed. Without `sized` only the structure is
    examined, for a graph whose saved values are gone.
    """
    walker = _Walker(mask, boundary, names or {}, Facts(asked, sized=sized), given)
    tensors, containers = _live_objects()
    walker.values = {node: tensor._array for node, tensor in tensors.items() if tensor._array is not None}
    with recording.during(recording.Recording((), ambient=False)), np.errstate(all="ignore"):
        if sized:
            walker.walk(list(seeds))
        else:
            walker.begin(node for node, _ in seeds)
        walker.visit_unreached([*others, *(sources or ())])
    wanted = walker.leaves_reached() if sources is None else sources
    walker.name_by_paths(tensors, containers, wanted)
    for node in dict.fromkeys(wanted):
        walker.add_source(node)
    return walker.facts


class _Walker:
    """Visits the graph from the latest to the earliest node and fills the facts."""

    def __init__(
        self,
        mask: int,
        boundary: Container[Node],
        names: dict[Node, str],
        facts: Facts,
        given: Cotangents | None = None,
    ) -> None:
        self.mask = mask
        self.given = given
        self.boundary = boundary
        self.names = dict(names)
        self.shared_names: dict[Node, str] = {}
        self.facts = facts
        self.place_of: dict[Node, ExpressionGroup] = {}
        self.gradients: dict[Node, tuple[Shape, Spread | None]] = {}
        self.values: dict[Node, Any] = {}
        self.counted: set[int] = set()  # arrays whose bytes are counted already
        self.rest: list[Node] = []
        self.is_nonfinite_found = False
        self.leaves = 0

    # -- places

    def place(self, node: Node) -> ExpressionGroup:
        """The place of `node`; a new node is added to it."""
        found = self.place_of.get(node)
        if found is not None:
            return found
        key, kind, name = self._key(node)
        found = self.facts.places.get(key)
        if found is None:
            found = self.facts.places[key] = ExpressionGroup(key, kind, name, node.location)
        self.place_of[node] = found
        found.meet(node)
        return found

    def _key(self, node: Node) -> tuple[Any, str, str]:
        code = id(node.code)  # hashing a code object is slow
        if isinstance(node, Cut):
            return ("cut", code, node.offset, node.reason), "cut", node.reason
        if node.op is None:
            self.leaves += 1
            key = ("leaf", node.order) if self.leaves <= LEAVES_APART else ("leaves", code, node.offset)
            return key, "leaf", self.names.get(node) or name_of(node.location)
        return (code, node.offset, node.op.name), "operation", node.op.name

    def edge(self, parent: Node, child: Node, kind: str, reason: str = "") -> Edge:
        above, below = self.place(parent), self.place(child)
        key = above.key, below.key
        if above.kind == "cut" and below.order - 0.5 < above.order:
            above.order = above.last = below.order - 0.5
        found = self.facts.edges.get(key)
        if found is None:
            found = self.facts.edges[key] = Edge(kind, reason=reason)
        elif kind == "flow" or found.kind == "unknown":
            found.kind = kind
        found.count += 1
        op = child.op
        if op is not None and (op.kind == "elementwise" or op.name == "broadcast_to") and parent.shape != child.shape:
            found.stretch = parent.shape, child.shape
        return found

    # -- the backward pass, with the size of every cotangent

    def begin(self, targets: Iterable[Node]) -> None:
        for node in targets:
            self.place(node).is_target = True
            self.facts.targets.append(self.place(node).key)
            self.rest.append(node)

    def walk(self, seeds: list[tuple[Node, Any]]) -> None:
        pending: dict[int, list[Any]] = {}
        heap: list[int] = []
        self.begin(node for node, _ in seeds)
        self.rest.clear()
        for node, seed in seeds:
            if node.bits & self.mask:
                _accumulate(pending, heap, node, seed)
            else:
                self.rest.append(node)
        while heap:
            node, gradient = pending.pop(-heappop(heap))
            self._visit(node, gradient, pending, heap)

    def _visit(self, node: Node, gradient: Any, pending: dict[int, list[Any]], heap: list[int]) -> None:
        place = self.place(node)
        several = node.op is not None and node.op.outputs
        spread = None if several else Spread.of(gradient)
        size = self._record_gradient(place, spread, gradient if several else None)
        if not several:
            self.gradients[node] = np.shape(gradient), spread
        if node.op is None or not node.parents:
            self._record_values(place, node)
            return
        if node in self.boundary:
            place.kind = "leaf"
            return
        op = node.op
        if op.part is not None:
            parent = node.parents[0]
            self._record_flow(self.edge(parent, node, "flow"), spread)
            slot = pending.get(parent.order)
            if slot is None:
                slot = pending[parent.order] = [parent, [None] * len(parent.params[PARTS])]
                heappush(heap, -parent.order)
            held = slot[1][op.part]
            slot[1][op.part] = gradient if held is None else held + gradient
            return
        if several:
            specs = node.params[PARTS]
            gradient = [np.zeros(*spec) if part is None else part for part, spec in zip(gradient, specs, strict=True)]
        if self.given is not None and not node.inputs:  # released by the first backward pass
            self.rest.append(node)
            return
        out, inputs = recorded_values(node)
        self._record_values(place, node, out, inputs)
        if self.given is not None and is_custom(node):
            cotangents = [g._array if isinstance(g, Tensor) else g for g in self.given.get(node, ())]
        else:
            cotangents = list(op.reverse(gradient, node, out, inputs))
        cotangents += [None] * (len(node.parents) - len(cotangents))
        largest = 0.0
        for index, (parent, cotangent) in enumerate(zip(node.parents, cotangents)):
            if parent is UNTRACKED or parent is LIFTED_NODE:
                continue
            if not parent.bits & self.mask:
                for part in _parts(parent):
                    cuts = isinstance(part, Cut) and not _steers(op, index)
                    self.edge(part, node, "cut" if cuts else "none")
                    self.place(part).cuts += cuts
                    self.rest.append(part)
            elif cotangent is None:
                self.edge(parent, node, "none", "steers only")
                self.rest.append(parent)
            else:
                if cotangent.shape != parent.shape or cotangent.dtype != parent.dtype:
                    cotangent = _fit(cotangent, parent, node)
                passed = Spread.of(cotangent)
                self._record_flow(self.edge(parent, node, "flow"), passed)
                if (
                    passed is not None
                    and passed.bad
                    and spread is not None
                    and not spread.bad
                    and not self.is_nonfinite_found
                ):
                    self.is_nonfinite_found = True  # the latest operation: earlier ones get it from here
                    place.birth = place.birth or "backward"
                if passed is not None and passed.count:
                    largest = max(largest, passed.rms)
                _accumulate(pending, heap, parent, cotangent)
        if size and largest and math.isfinite(size):
            ratio, gains = largest / size, place.gains
            place.gains = [gains[0] + 1, gains[1] + math.log(ratio), min(gains[2], ratio), max(gains[3], ratio)]

    def _record_gradient(self, place: ExpressionGroup, spread: Spread | None, parts: list[Any] | None) -> float:
        """Record a gradient at `place`; returns its size."""
        for part in parts or ():
            found = None if part is None else Spread.of(part)
            if found is not None and spread is None:
                spread = found
            elif found is not None and spread is not None:
                spread.add(found)
        place.arrived += 1
        if spread is None:
            return 0.0
        if place.gradient is None:
            place.gradient = Spread()
        place.gradient.add(spread)
        size = math.nan if spread.bad else spread.rms
        if size == 0.0:
            place.zero += 1
        place.size(size)
        return size

    def _record_flow(self, edge: Edge, spread: Spread | None) -> None:
        if spread is None:
            return
        edge.bad = edge.bad or spread.bad > 0
        if spread.count:
            edge.squares += spread.squares / spread.count
            edge.sized += 1

    # -- the values of the forward pass

    def _record_values(self, place: ExpressionGroup, node: Node, out: Any = None, inputs: Sequence[Any] = ()) -> None:
        """Record the bytes saved at `node`, and the spread of its value where it is known."""
        for item in (*inputs, *(out if isinstance(out, tuple) else (out,))):
            if isinstance(item, np.ndarray) and id(item) not in self.counted:
                self.counted.add(id(item))
                place.saved += item.nbytes
        known = self.values.pop(node, None)
        if not place.wants_spread:
            return
        if known is None:
            known = out if out is not None and not isinstance(out, tuple) else _recompute(node, inputs)
        for parent, value in zip(node.parents, inputs):
            if parent.bits & self.mask and isinstance(value, np.ndarray) and parent not in self.values:
                self.values[parent] = value
        spread = Spread.of(known)
        if spread is None:
            return
        if place.name == "relu" and isinstance(known, np.ndarray) and known.ndim > 1 and len(known) > 1:
            unit = 1 if known.ndim == 4 else known.ndim - 1  # the channels of pictures, else the last axis
            active = known.any(axis=tuple(axis for axis in range(known.ndim) if axis != unit))
            place.units += active.size
            place.dead += active.size - int(np.count_nonzero(active))
        if place.values is None:
            place.values = Spread()
        place.values.add(spread)
        taken = [Spread.of(value) for value in inputs if isinstance(value, np.ndarray | float)]
        if spread.bad and inputs and taken and not any(item is not None and item.bad for item in taken):
            for other in self.facts.places.values():  # the earliest operation: later ones get it from here
                if other.birth == "forward":
                    other.birth = ""
            place.birth = "forward"

    # -- nodes that no gradient reaches

    def visit_unreached(self, others: Iterable[Node]) -> None:
        """Visit the nodes that the targets were computed from and that no gradient reached, and `others`."""
        self.rest += [node for node in others if node not in self.place_of]
        for node in self.rest:
            self.place(node)
        pending = [origin for node in self.rest for origin in self._unreached_origins(node)]
        seen = set(self.rest)
        while pending and len(seen) < UNREACHED_FOLLOWED:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending.extend(self._unreached_origins(node))
        alive = {node: place for node, place in self.place_of.items() if place.kind != "cut"}
        for departure in departures:
            for reference in departure.sources:
                source = reference()
                if source is not None and source in alive:
                    key = ("left", id(departure.code), departure.offset, departure.reason)
                    where = departure.location
                    left = self.facts.places.setdefault(key, ExpressionGroup(key, "left", departure.reason, where))
                    self.place_of[departure] = left
                    left.meet(departure)
                    self.edge(source, departure, "left", departure.reason)

    def _unreached_origins(self, node: Node) -> Iterator[Node]:
        """The origins of a node that no gradient reached; an edge is added for each."""
        place = self.place(node)
        if place.arrived and node in self.gradients:
            return
        if node in self.values:
            self._record_values(place, node)
        is_cut = isinstance(node, Cut)
        origins: list[Node] = [part for parent in node.parents for part in _parts(parent)]
        if isinstance(node, Cut):
            origins += [source for source in (reference() for reference in node.sources) if source is not None]
        for origin in origins:
            if origin is not UNTRACKED and origin is not LIFTED_NODE:
                flows = not is_cut and node.bits & self.mask and origin.bits & self.mask
                kind = "unknown" if flows else ("cut" if is_cut or isinstance(origin, Cut) else "none")
                if is_cut and not place.cuts:
                    kind = "none"
                if not self.facts.sized and isinstance(origin, Cut) and node.bits & self.mask:
                    self.place(origin).cuts += 1
                self.edge(origin, node, kind, node.reason if isinstance(node, Cut) else "")
                yield origin

    def leaves_reached(self) -> list[Node]:
        """The leaves at which a gradient arrived, the oldest first."""
        return sorted((node for node in self.gradients if node.op is None), key=lambda node: node.order)

    def name_by_paths(self, tensors: dict[Node, Tensor], containers: list[Any], wanted: Iterable[Node]) -> None:
        """Name the leaves that are held by a container of parameters by their paths in it."""
        leaves = {node for node, place in self.place_of.items() if place.kind == "leaf"}
        shared = {
            name for name, times in Counter(self.names.values()).items() if times > 1
        }  # names of several tell none
        for node in [node for node, name in self.names.items() if name in shared]:
            self.shared_names[node] = self.names.pop(node)
        held = {node: tensors[node] for node in leaves.union(wanted) if node in tensors and node not in self.names}
        paths = paths_within(containers, held.values()) if held else {}
        for node, tensor in held.items():
            if id(tensor) in paths:
                self.names[node] = paths[id(tensor)]
                place = self.place(node)
                if place.count == 1:
                    place.name = paths[id(tensor)]
        for node, name in self.shared_names.items():
            self.names.setdefault(node, name)

    def add_source(self, node: Node) -> None:
        """Add a requested tensor, with the gradient that arrived there."""
        place = self.place(node)
        place.is_source = True
        name = self.names.get(node) or (place.name if place.kind == "leaf" else name_of(node.location))
        shape, spread = self.gradients.get(node, (None, None))
        location = node.location
        self.facts.sources.append(GradientSource(name, node.shape, str(node.dtype), location, place.key, spread, shape))


def _steers(op: Op, index: int) -> bool:
    """Whether an operand only selects, as the condition of `where` does, and never gets a gradient."""
    return op.kind == "linear" and bool(op.needs) and index in op.needs[index]  # type: ignore[index]


def _parts(node: Node) -> tuple[Node, ...]:
    """The cuts that were joined at `node`; else `node` itself."""
    return node.joined if isinstance(node, Cut) and node.joined else (node,)


def _accumulate(pending: dict[int, list[Any]], heap: list[int], node: Node, cotangent: Any) -> None:
    slot = pending.get(node.order)
    if slot is None:
        pending[node.order] = [node, cotangent]
        heappush(heap, -node.order)
    else:
        slot[1] = slot[1] + cotangent


def _recompute(node: Node, inputs: Sequence[Any]) -> Any:
    """The value of an elementwise operation, recomputed if all its inputs are saved."""
    op = node.op
    if op is None or not op.ufunc or not inputs or math.prod(node.shape) > LARGEST_REPLAY:
        return None
    if any(value is None or isinstance(value, Spec | LockedArray | Tensor) for value in inputs):
        return None
    return op.kernel(*inputs, **node.params)

"""A layered layout: data flows down, every edge from an older layer to a younger one, crossings few, edges straight.

Layers by the longest path; long edges get a waypoint in each layer they pass, which all edges from one node share, so
that they are one bundle until they part; the order in a layer by barycentres; the positions by the least squares that
keep the order and the distances (isotonic regression, layer by layer).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

HEIGHT = 54.0
GAP_ACROSS = 26.0
GAP_DOWN = 58.0
MARGIN = 16.0
WAYPOINT = 10.0
SWEEPS = 6
WAYPOINTS_AT_MOST = 6000
ALONE_ABREAST = 4  # nodes without edges are placed below, so many in a row

Point = tuple[float, float]


@dataclass
class Drawing:
    """Positions: the centre of each node, the points of each edge, and the size of the whole."""

    centres: dict[int, Point] = field(default_factory=dict)
    lines: dict[tuple[int, int], list[Point]] = field(default_factory=dict)
    back: dict[tuple[int, int], list[Point]] = field(default_factory=dict)  # edges that lead to an earlier line
    width: float = 0.0
    height: float = 0.0


def layout(widths: Mapping[int, float], edges: Iterable[tuple[int, int]], late: Iterable[int] = ()) -> Drawing:
    """Place nodes, given in the order of execution with their widths; `late` ones stay close to their users.

    >>> drawing = layout({0: 100, 1: 100, 2: 100}, [(0, 2), (1, 2)])
    >>> drawing.centres[0][1] == drawing.centres[1][1] < drawing.centres[2][1]
    True
    """
    ranks = {node: index for index, node in enumerate(widths)}
    listed = list(dict.fromkeys(edges))
    forward = [(a, b) for a, b in listed if ranks[a] < ranks[b]]
    joined = {node for edge in listed for node in edge}
    layer_of = _layers([node for node in widths if node in joined], forward, set(late))
    below = max(layer_of.values(), default=-1) + 1
    alone = [node for node in widths if node not in joined]
    layer_of.update({node: below + index // ALONE_ABREAST for index, node in enumerate(alone)})
    rows, chains, size = _add_waypoints(layer_of, forward, widths)
    row_of = {item: index for index, row in enumerate(rows) for item in row}
    neighbours = _neighbours(rows, chains)
    _order(rows, neighbours)
    across = _positions(rows, neighbours, size)
    drawing = Drawing()
    left = min((across[item] - size[item] / 2 for row in rows for item in row), default=0.0)
    right = max((across[item] + size[item] / 2 for row in rows for item in row), default=0.0)
    backward = [(a, b) for a, b in listed if ranks[a] > ranks[b]]
    room = 40.0 + 14.0 * min(len(backward), 8) if backward else 0.0
    drawing.width = right - left + 2 * MARGIN + room
    drawing.height = len(rows) * HEIGHT + max(len(rows) - 1, 0) * GAP_DOWN + 2 * MARGIN

    def centre(item: int) -> Point:
        return across[item] - left + MARGIN, MARGIN + row_of[item] * (HEIGHT + GAP_DOWN) + HEIGHT / 2

    for node in layer_of:
        drawing.centres[node] = centre(node)
    ports = _ports(chains, across, widths)
    for edge, chain in chains.items():
        points = [centre(item) for item in chain]
        start, end = points[0], points[-1]
        points[0] = start[0] + ports[edge, 0], start[1] + HEIGHT / 2
        points[-1] = end[0] + ports[edge, 1], end[1] - HEIGHT / 2
        drawing.lines[edge] = points
    for index, (a, b) in enumerate(backward):
        one, other = drawing.centres[a], drawing.centres[b]
        outside = right - left + MARGIN + 24 + 14 * (index % 8)
        drawing.back[a, b] = [
            (one[0] + widths[a] / 2, one[1] + 6),
            (outside, one[1]),
            (outside, other[1]),
            (other[0] + widths[b] / 2, other[1] - 6),
        ]
    return drawing


def _layers(nodes: list[int], edges: list[tuple[int, int]], late: set[int]) -> dict[int, int]:
    """The layer of each node: one below the lowest of its parents."""
    parents: dict[int, list[int]] = {node: [] for node in nodes}
    children: dict[int, list[int]] = {node: [] for node in nodes}
    for a, b in edges:
        parents[b].append(a)
        children[a].append(b)
    layer: dict[int, int] = {}
    for node in nodes:  # in the order of execution, so that parents come first
        layer[node] = max((layer[parent] + 1 for parent in parents[node]), default=0)
    for node in reversed(nodes):
        if node in late and children[node] and not parents[node]:
            layer[node] = max(min(layer[child] for child in children[node]) - 1, 0)
    return layer


def _add_waypoints(
    layer_of: dict[int, int], edges: list[tuple[int, int]], widths: Mapping[int, float]
) -> tuple[list[list[int]], dict[tuple[int, int], list[int]], dict[int, float]]:
    """The rows with the waypoints of long edges in them (negative numbers), and each edge as a chain of items.

    The edges of one node share its waypoint in a layer.
    """
    rows: list[list[int]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for node, row in layer_of.items():
        rows[row].append(node)
    size = dict(widths)
    chains: dict[tuple[int, int], list[int]] = {}
    made: dict[tuple[int, int], int] = {}  # the waypoint of a node in a layer
    for a, b in edges:
        chain = [a]
        if len(made) <= WAYPOINTS_AT_MOST:
            for row in range(layer_of[a] + 1, layer_of[b]):
                waypoint = made.get((a, row))
                if waypoint is None:
                    waypoint = made[a, row] = -len(made) - 1
                    size[waypoint] = WAYPOINT
                    rows[row].append(waypoint)
                chain.append(waypoint)
        chains[a, b] = [*chain, b]
    return rows, chains, size


def _neighbours(rows: list[list[int]], chains: dict[tuple[int, int], list[int]]) -> dict[int, tuple[list[int], ...]]:
    """For each item, the items above and below that it is connected to."""
    joined: dict[int, tuple[list[int], ...]] = {item: ([], []) for row in rows for item in row}
    for above, below in dict.fromkeys(pair for chain in chains.values() for pair in pairwise(chain)):
        joined[above][1].append(below)
        joined[below][0].append(above)
    return joined


def _order(rows: list[list[int]], neighbours: dict[int, tuple[list[int], ...]]) -> None:
    """Sort each row by the mean position of the neighbours of its items, downwards and upwards in turn."""
    place = {item: index for row in rows for index, item in enumerate(row)}
    for sweep in range(SWEEPS):
        side = sweep % 2
        for row in rows if side == 0 else reversed(rows):
            means = {}
            for item in row:
                others = neighbours[item][side]
                means[item] = sum(place[other] for other in others) / len(others) if others else float(place[item])
            row.sort(key=lambda item: means[item])
            place.update({item: index for index, item in enumerate(row)})


def _positions(
    rows: list[list[int]], neighbours: dict[int, tuple[list[int], ...]], size: Mapping[int, float]
) -> dict[int, float]:
    """The centre of each item across the page."""
    across: dict[int, float] = {}
    for row in rows:
        total = sum(size[item] for item in row) + GAP_ACROSS * (len(row) - 1)
        edge = -total / 2
        for item in row:
            across[item] = edge + size[item] / 2
            edge += size[item] + GAP_ACROSS
    for sweep in range(SWEEPS + 1):
        side = sweep % 2
        for row in rows if side == 0 else reversed(rows):
            wished = []
            for item in row:
                others = neighbours[item][side] or neighbours[item][1 - side]
                mean = sum(across[other] for other in others) / len(others) if others else across[item]
                wished.append((mean, 8.0 if item < 0 else 1.0))  # waypoints keep long edges straight
            across.update(zip(row, _separate(wished, [size[item] for item in row])))
    return across


def _separate(wished: list[tuple[float, float]], widths: list[float]) -> list[float]:
    """The positions nearest to those wished for (by weighted squares) at which neighbours do not touch."""
    offsets = [0.0]
    for left, right in pairwise(widths):
        offsets.append(offsets[-1] + (left + right) / 2 + GAP_ACROSS)
    blocks: list[list[float]] = []  # weighted sum, weight, number of items
    for (position, weight), offset in zip(wished, offsets):
        blocks.append([(position - offset) * weight, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, weight_, number = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + weight_, blocks[-1][2] + number]
    levels = [block[0] / block[1] for block in blocks for _ in range(int(block[2]))]
    return [level + offset for level, offset in zip(levels, offsets)]


def _ports(
    chains: dict[tuple[int, int], list[int]], across: dict[int, float], widths: Mapping[int, float]
) -> dict[tuple[tuple[int, int], int], float]:
    """How far from the centre each edge leaves its upper node (0) and enters its lower one (1); a bundle at one."""
    ports: dict[tuple[tuple[int, int], int], float] = {}
    for end in (0, 1):
        by_node: dict[int, list[tuple[int, int]]] = {}
        for edge in chains:
            by_node.setdefault(edge[end], []).append(edge)
        for node, edges in by_node.items():
            met = {edge: chains[edge][1 if end == 0 else -2] for edge in edges}
            ranks = {item: rank for rank, item in enumerate(sorted(set(met.values()), key=across.__getitem__))}
            step = min(26.0, (widths[node] - 40) / len(ranks))
            for edge in edges:
                ports[edge, end] = (ranks[met[edge]] - (len(ranks) - 1) / 2) * step
    return ports

"""The folded graph as inline SVG, with every node a link to its card, and small curves for what happens in loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape, unescape
from itertools import pairwise

from gradtape.explain.report.axis_colours import Dimensions, shape_in_words
from gradtape.explain.report.facts import Edge
from gradtape.explain.report.fold import STATES, FoldedGraph, Group
from gradtape.explain.report.layout import HEIGHT, Point, layout
from gradtape.explain.report.numbers import count, number, stretch

LONGEST_LABEL = 38
LETTER = 7.3  # the width of a letter in the labels
NARROWEST = 168.0
WIDEST_EDGE, FEW_EDGES, THINNEST_WIDEST = 9.0, 16, 3.0  # the widest edge of a graph of few edges, and of many


def graph(folded: FoldedGraph, dimensions: Dimensions, prefix: str, codes: dict[int, list[str]], title: str) -> str:
    """The graph; `codes` are those of the verdicts on each group, `prefix` begins the names of the cards."""
    widths = {number: _width(folded.groups[number], dimensions) for number in _drawing_order(folded)}
    leaves = [group.number for group in folded.groups if group.kind == "leaf"]
    drawing = layout(widths, folded.edges, leaves)
    scale = Scale([edge.size for edge in folded.edges.values()])
    scale.widest = max(WIDEST_EDGE * min(1.0, FEW_EDGES / max(len(folded.edges), 1)), THINNEST_WIDEST)
    parts = []
    words = _sums(folded, {edge: points[-1][0] for edge, points in drawing.lines.items()})
    for (a, b), points in drawing.lines.items():
        parts.append(_edge(folded.edges[a, b], points, scale, words.get((a, b), "")))
    for (a, b), points in drawing.back.items():
        parts.append(_back(folded.edges[a, b], points, scale))
    for group in folded.groups:
        centre, width = drawing.centres[group.number], widths[group.number]
        parts.append(_node(group, centre, width, dimensions, prefix, codes.get(group.number, [])))
    ends = [drawing.lines[edge][-1][0] + 30 + 6.5 * len(unescape(text)) for edge, text in words.items()]
    wide, tall = math.ceil(max([drawing.width, *ends])), math.ceil(drawing.height)
    least = min(math.ceil(wide * 0.8), 2400)
    return (
        f'<svg class="graph" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
        f'style="min-width:{least}px" role="group" aria-label="{escape(title, quote=True)}">'
        f"{''.join(parts)}</svg>"
    )


def _drawing_order(folded: FoldedGraph) -> list[int]:
    """The groups from top to bottom: as they were executed first, or last where fewer edges lead back up then.

    A line that calls a function and adds to its result was begun before the lines of that function, and ended after.
    """
    first = [group.number for group in folded.groups]
    last = sorted(first, key=lambda number: max(place.last for place in folded.groups[number].places))
    ranks = {number: rank for rank, number in enumerate(last)}
    backward = [sum(a > b for a, b in folded.edges), sum(ranks[a] > ranks[b] for a, b in folded.edges)]
    return last if backward[1] <= backward[0] else first


class Scale:
    """Sizes of gradients on a logarithmic scale, from 0 to 1.

    >>> scale = Scale([1e-4, 1.0])
    >>> scale(1.0), scale(1e-4), scale(None)
    (1.0, 0.0, 0.0)
    """

    def __init__(self, sizes: Sequence[float | None]) -> None:
        logs = [math.log10(size) for size in sizes if size is not None and size > 0 and math.isfinite(size)]
        self.high = max(logs, default=0.0)
        self.low = min([max(min(logs, default=0.0), self.high - 9.0), self.high - 1.0])
        self.widest = WIDEST_EDGE

    def width(self, size: float | None) -> float:
        """The width of an edge with a gradient of this size."""
        return 1.2 + (self.widest - 1.2) * self(size)

    def __call__(self, size: float | None) -> float:
        if size is None or size == 0:
            return 0.0
        if not math.isfinite(size):
            return 1.0
        return min(1.0, max(0.0, (math.log10(size) - self.low) / (self.high - self.low)))


def _width(group: Group, dimensions: Dimensions) -> float:
    label = min(len(group.label), LONGEST_LABEL) * LETTER + 34
    shape = 0.0 if group.shape is None else dimensions.draw(group.shape, 0, 0)[1]
    below = shape + len(group.where) * 6.2 + 48 + (len(count(group.count)) * 7 + 14 if group.count > 1 else 0)
    return max(NARROWEST, label, below + (16 if group.kind == "leaf" else 0))


def _node(group: Group, centre: Point, width: float, dimensions: Dimensions, prefix: str, codes: Sequence[str]) -> str:
    x, y = centre[0] - width / 2, centre[1] - HEIGHT / 2
    label = group.label if len(group.label) <= LONGEST_LABEL else group.label[: LONGEST_LABEL - 1] + "…"
    words = [group.label, STATES[group.state]]
    if group.shape is not None:
        words.append(shape_in_words(group.shape))
    if group.count > 1:
        words.append(f"{group.count} times")
    if group.size is not None:
        words.append(f"gradient size {number(group.size)}")
    if group.birth:
        words.append(f"a NaN or infinity is born here, going {group.birth}")
    words += [f"verdict {code}" for code in codes]
    roles = "".join(
        f"{role} "
        for role, has in [("leaf", group.kind == "leaf"), ("target", group.is_target), ("marked", bool(codes))]
        if has
    )
    parts = [
        f'<a class="node {roles}{group.state}{" born" if group.birth else ""}" href="#{prefix}{group.number}" '
        f'data-line="{escape(_line_key(group), quote=True)}" '
        f'aria-label="{escape(", ".join(words), quote=True)}"><title>{escape(group.label)}</title>'
    ]
    if group.count > 1:  # a pile of sheets
        parts.append(
            f'<rect class="pile" x="{x + 5:.1f}" y="{y + 5:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="8"/>'
        )
    radius = HEIGHT / 2 if group.kind == "leaf" else 8
    parts.append(f'<rect class="box" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="{radius}"/>')
    inner = x + (22 if group.kind == "leaf" else 16)
    if group.kind != "leaf":
        parts.append(f'<rect class="stripe" x="{x:.1f}" y="{y + 9:.1f}" width="4" height="{HEIGHT - 18}" rx="2"/>')
    parts.append(f'<text class="label" x="{inner:.1f}" y="{y + 21:.1f}">{escape(label)}</text>')
    right = inner
    if group.shape is not None:
        drawn, used = dimensions.draw(group.shape, inner, y + 38)
        parts.append(drawn)
        right += used + 5
    if group.count > 1:
        times = f"&times; {count(group.count)}"
        parts.append(f'<text class="times" x="{right:.1f}" y="{y + 42:.1f}">{times}</text>')
    parts.append(
        f'<text class="where" x="{x + width - (20 if group.kind == "leaf" else 12):.1f}" y="{y + 42:.1f}" '
        f'text-anchor="end">{escape(group.where)}</text>'
    )
    if group.birth:
        parts.append(_flag(x + width - 8, y, "NaN born here" if group.birth == "forward" else "NaN born going back"))
    elif codes:
        parts.append(_flag(x + width - 8, y, " ".join(codes[:2])))
    if group.carried is not None:
        cx, cy = x + width, y + HEIGHT / 2
        parts.append(
            f'<path class="carried" d="M{cx:.1f} {cy + 9:.1f}c26 8 26 -26 0 -18" />'
            f'<path class="carriedhead" d="M{cx + 7:.1f} {cy - 14:.1f}l-7 5 8 4"/>'
        )
    return "".join([*parts, "</a>"])


def _line_key(group: Group) -> str:
    return f"{group.file}:{group.line}"


def _flag(right: float, top: float, text: str) -> str:
    width = 6.6 * len(text) + 12
    return (
        f'<g class="flag"><rect x="{right - width:.1f}" y="{top - 9:.1f}" width="{width:.1f}" height="17" rx="8.5"/>'
        f'<text x="{right - width / 2:.1f}" y="{top + 3.4:.1f}" text-anchor="middle">{escape(text)}</text></g>'
    )


def _curve(points: Sequence[Point]) -> str:
    """A smooth line that leaves and enters every point vertically."""
    text = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y1 - y0) * 0.5
        text.append(f"C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}")
    return "".join(text)


def _sums(folded: FoldedGraph, entries: dict[tuple[int, int], float]) -> dict[tuple[int, int], str]:
    """The texts beside stretched operands: one for each node, at its rightmost incoming edge."""
    words: dict[tuple[int, int], str] = {}
    by_child: dict[int, list[tuple[int, int]]] = {}
    for edge in entries:
        by_child.setdefault(edge[1], []).append(edge)
    for edges in by_child.values():
        stretched = [edge for edge in edges if folded.edges[edge].stretch is not None]
        if stretched and max(edges, key=entries.__getitem__) in stretched:
            sums = [stretch(*found) for edge in stretched if (found := folded.edges[edge].stretch) is not None]
            axes = " and ".join(dict.fromkeys(axis for axis, _ in sums if axis))
            times = " and ".join(dict.fromkeys(count(number_) for _, number_ in sums))
            words[max(edges, key=entries.__getitem__)] = f"&times; {times}, back: &Sigma; axis {escape(axes)}"
    return words


def _edge(edge: Edge, points: list[Point], scale: Scale, words: str) -> str:
    kind = _kind(edge)
    width = scale.width(edge.size) if kind in ("flow", "bad") else 1.5
    what = f"gradient size {number(edge.size)}" if edge.size is not None else STATES_OF_EDGES[kind]
    if edge.stretch is not None:
        small, large = edge.stretch
        what += f"; {small} is stretched to {large}, and its gradient summed over axis {stretch(small, large)[0]}"
    parts = [f'<g class="edge {kind}"><title>{escape(what)}</title>']
    if edge.stretch is not None:
        parts.append(_fan(points, width, words))
    else:
        parts.append(f'<path d="{_curve(points)}" stroke-width="{width:.1f}"/>')
    if kind == "cut":
        cx, cy = _middle(points)
        parts.append(
            f'<circle class="gap" cx="{cx:.1f}" cy="{cy:.1f}" r="9"/>'
            f'<path class="slash" d="M{cx - 6:.1f} {cy - 1:.1f}l12 -7M{cx - 6:.1f} {cy + 8:.1f}l12 -7"/>'
        )
        if edge.reason:
            reason = escape(edge.reason)
            parts.append(f'<text class="reason" x="{cx + 14:.1f}" y="{cy + 4:.1f}">{reason}</text>')
    elif kind == "left" and edge.reason:
        cx, cy = _middle(points)
        parts.append(f'<text class="reason" x="{cx + 8:.1f}" y="{cy + 4:.1f}">{escape(edge.reason)}</text>')
    return "".join([*parts, "</g>"])


STATES_OF_EDGES = {
    "flow": "gradient flows; its size is not known",
    "bad": "the gradient is not finite",
    "zero": "the gradient is zero",
    "cut": "the gradient is cut here",
    "left": "the value left the tape",
    "none": "no derivative: this operand only steers",
    "unknown": "recorded; the size of the gradient is not known",
}


def _kind(edge: Edge) -> str:
    if edge.kind == "flow" and edge.bad:
        return "bad"
    return "zero" if edge.kind == "flow" and edge.size == 0 else edge.kind


def _fan(points: list[Point], width: float, words: str) -> str:
    """A stretched operand: the line widens, with the sum that undoes it written beside it."""
    x, y = points[-1]
    knot = (x, y - 24)
    parts = [f'<path d="{_curve([*points[:-1], knot])}" stroke-width="{width:.1f}"/>']
    for spread in (-13, 0, 13):
        d = f"M{x:.1f} {y - 24:.1f}C{x:.1f} {y - 12:.1f} {x + spread:.1f} {y - 14:.1f} {x + spread:.1f} {y:.1f}"
        parts.append(f'<path d="{d}" stroke-width="{max(width / 3, 1.2):.1f}"/>')
    if words:
        parts.append(f'<text class="sum" x="{x + 20:.1f}" y="{y - 12:.1f}">{words}</text>')
    return "".join(parts)


def _back(edge: Edge, points: list[Point], scale: Scale) -> str:
    kind = _kind(edge)
    width = 0.6 * scale.width(edge.size) + 0.5
    (x0, y0), (x1, _), (x2, _), (x3, y3) = points
    path = f"M{x0:.1f} {y0:.1f}C{x1:.1f} {y0:.1f} {x2:.1f} {y3:.1f} {x3:.1f} {y3:.1f}"
    return (
        f'<g class="edge back {kind}"><title>handed to the next step of the loop</title>'
        f'<path d="{path}" stroke-width="{width:.1f}"/><path class="head" d="M{x3 + 9:.1f} {y3 - 5:.1f}l-9 5 9 5"/></g>'
    )


def _middle(points: Sequence[Point]) -> Point:
    """A point half way along a line."""
    middle = len(points) // 2
    (x0, y0), (x1, y1) = points[middle - 1], points[middle]
    return (x0 + x1) / 2, (y0 + y1) / 2


def sparkline(sizes: Sequence[float], steps: int, width: int = 220, height: int = 44) -> str:
    """The size of the gradient over the steps of a loop, the first step at the left, on a logarithmic scale."""
    ordered = list(reversed(sizes))
    logs = [math.log10(size) if size > 0 and math.isfinite(size) else None for size in ordered]
    known = [value for value in logs if value is not None]
    if len(ordered) < 3 or not known:
        return ""
    low, high = min(known), max(known)
    if high - low < 1:
        low, high = (low + high) / 2 - 0.5, (low + high) / 2 + 0.5
    points = []
    for index, value in enumerate(logs):
        x = 2 + (width - 4) * index / (len(logs) - 1)
        y = height - 2 if value is None else 2 + (height - 4) * (high - value) / (high - low)
        points.append(f"{x:.1f},{y:.1f}")
    first, last = number(ordered[0]), number(ordered[-1])
    label = f"gradient size over {count(steps)} steps: {first} at the first, {last} at the last"
    return (
        f'<figure class="spark"><svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'preserveAspectRatio="none" role="img" aria-label="{label}"><polyline points="{" ".join(points)}"/></svg>'
        f"<figcaption><span>{first}</span><span>step 1 to {count(steps)}</span><span>{last}</span></figcaption>"
        "</figure>"
    )

"""Small line charts as inline SVG, with a title, axes, ticks and a legend: for notebooks and for reports.

Text and axes have the colour of the page around them, so that a chart looks right in the light and in the dark.
Everything that comes from the user is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#2b7bba", "#d1495b", "#3a9254", "#9467bd", "#c77d11", "#8c6d5a", "#c25aa0", "#5f7d8c")
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 26, 38  # around the plot; more on the left where numbers are long
LOG_FROM = 50.0  # a ratio of largest and smallest from which the scale is logarithmic

Points = Sequence[tuple[float, float]]


def line_chart(
    series: Mapping[str, Points],
    *,
    title: str,
    x: str,
    y: str,
    marked: tuple[str, float] | None = None,
    width: int = 520,
    height: int = 230,
) -> str:
    """Named lines in one chart; `marked` is a place of the x axis with its name. Empty if no point is finite.

    >>> drawing = line_chart({"loss": [(1, 3.0), (2, 2.0), (3, 1.0)]}, title="Training", x="epoch", y="loss")
    >>> drawing.startswith("<svg"), drawing.count("<polyline")
    (True, 1)
    """
    finite = [point for points in series.values() for point in points if all(map(math.isfinite, point))]
    if not finite:
        return ""
    up = Axis([point[1] for point in finite], height - BOTTOM, TOP, may_be_log=True)
    rows = list(zip(up.ticks(), labels(up.ticks()), strict=True))
    left = max(LEFT, 26 + 7 * max(len(label) for _, label in rows)) if rows else LEFT
    across = Axis([point[0] for point in finite], left, width - RIGHT, whole=True)
    small = 'font-size="11" fill="currentColor" opacity="0.75"'
    parts = [f'<text x="{left}" y="15" font-size="13" font-weight="600" fill="currentColor">{escape(title)}</text>']
    for value, label in rows:
        at = up(value)
        parts.append(
            f'<path d="M{left} {at:.1f}H{width - RIGHT}" stroke="currentColor" stroke-width="1" opacity="0.15"/>'
            f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end" {small}>{label}</text>'
        )
    for value, label in zip(across.ticks(), labels(across.ticks()), strict=True):
        at = across(value)
        parts.append(
            f'<path d="M{at:.1f} {height - BOTTOM}v4" stroke="currentColor" stroke-width="1" opacity="0.5"/>'
            f'<text x="{at:.1f}" y="{height - BOTTOM + 16}" text-anchor="middle" {small}>{label}</text>'
        )
    parts.append(
        f'<path d="M{left} {TOP}V{height - BOTTOM}H{width - RIGHT}" fill="none" stroke="currentColor" opacity="0.5"/>'
        f'<text x="{(left + width - RIGHT) / 2:.0f}" y="{height - 5}" text-anchor="middle" {small}>{escape(x)}</text>'
        f'<text transform="translate(12 {(TOP + height - BOTTOM) / 2:.0f}) rotate(-90)" text-anchor="middle" {small}>'
        f"{escape(y)}</text>"
    )
    if marked is not None:
        at = across(marked[1])
        parts.append(
            f'<path d="M{at:.1f} {TOP}V{height - BOTTOM}" stroke="currentColor" stroke-dasharray="3 4" opacity="0.6"/>'
            f'<text x="{at - 4:.1f}" y="{TOP + 10}" text-anchor="end" {small}>{escape(marked[0])}</text>'
        )
    for index, points in enumerate(series.values()):
        colour = COLOURS[index % len(COLOURS)]
        for run in runs(points):
            drawn = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in run)
            parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
            if len(run) == 1:
                parts.append(f'<circle cx="{across(run[0][0]):.1f}" cy="{up(run[0][1]):.1f}" r="3" fill="{colour}"/>')
    if len(series) > 1:
        parts.append(_legend(list(series), width))
    words = escape(f"{title}: {', '.join(_in_words(name, points) for name, points in series.items())}", quote=True)
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{words}" style="max-width:100%;height:auto;font-family:system-ui,sans-serif">'
        f"{''.join(parts)}</svg>"
    )


def _legend(names: Sequence[str], width: int) -> str:
    """The names beside the title, from the right end, as far as there is room."""
    parts = []
    right = width - RIGHT
    for index in range(min(len(names), len(COLOURS)) - 1, -1, -1):
        right -= 20 + 6 * len(names[index])
        if right < width / 3:
            break
        parts.append(
            f'<rect x="{right}" y="7" width="9" height="9" rx="2" fill="{COLOURS[index]}"/>'
            f'<text x="{right + 13}" y="15" font-size="11" fill="currentColor">{escape(names[index])}</text>'
        )
    return "".join(parts)


def _in_words(name: str, points: Points) -> str:
    values = [value for _, value in points if math.isfinite(value)]
    return f"{name} from {number(values[0])} to {number(values[-1])}" if values else f"{name} not finite"


def runs(points: Points) -> list[list[tuple[float, float]]]:
    """The parts of a line between points that are not finite.

    >>> runs([(1, 2.0), (2, float("nan")), (3, 1.0)])
    [[(1, 2.0)], [(3, 1.0)]]
    """
    found: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if all(map(math.isfinite, point)):
            found[-1].append(point)
        elif found[-1]:
            found.append([])
    return [run for run in found if run]


class Axis:
    """Values on a linear or logarithmic axis, as pixels from `begin` to `end`."""

    def __init__(
        self, values: Sequence[float], begin: float, end: float, whole: bool = False, may_be_log: bool = False
    ) -> None:
        self.low, self.high = min(values), max(values)
        self.begin, self.end, self.whole = begin, end, whole
        self.is_log = may_be_log and self.low > 0 and self.high / self.low > LOG_FROM
        if self.low == self.high:
            room = abs(self.low) * 0.1 or 1.0
            self.low, self.high = (self.low, self.low + 1) if whole else (self.low - room, self.high + room)

    def _place(self, value: float) -> float:
        return math.log10(value) if self.is_log else value

    def __call__(self, value: float) -> float:
        """Where a value is drawn."""
        low, high = self._place(self.low), self._place(self.high)
        return self.begin + (self._place(value) - low) / (high - low) * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Some four to six round values within the axis.

        >>> Axis([0.0, 10.0], 0, 100).ticks()
        [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        """
        if self.is_log:
            low, high = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power for power in range(low, high + 1, max(1, math.ceil((high - low) / 5)))]
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
        if self.whole:
            step = max(1.0, float(round(step)))
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def spark(values: Sequence[float | None], low: float, high: float, width: int = 120, height: int = 26) -> str:
    """A line without axes on a logarithmic scale from `low` to `high`, for the cell of a table; None is a gap.

    >>> spark([1.0, None, 0.1, 0.01], 0.01, 1.0).count("<polyline")
    2
    """
    if len(values) < 2 or low <= 0:
        return ""
    span = math.log10(high / low) or 1.0
    places: list[tuple[float, float]] = []
    for index, value in enumerate(values):
        is_drawn = value is not None and value > 0 and math.isfinite(value)
        share = math.log10(max(value or low, low) / low) / span if is_drawn else math.nan
        places.append((2 + (width - 4) * index / (len(values) - 1), height - 2 - (height - 4) * min(share, 1.0)))
    lines = "".join(
        f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in run)}" fill="none"/>' for run in runs(places)
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg class="row" {size} aria-hidden="true">{lines}</svg>'


def labels(ticks: Sequence[float]) -> list[str]:
    """The numbers of ticks, each with as many digits as tell all of them apart.

    >>> labels([741.0, 741.5, 742.0]), labels([0.25, 0.5])
    (['741', '741.5', '742'], ['0.25', '0.5'])
    """
    for digits in range(3, 17):
        texts = [number(value, digits) for value in ticks]
        if len({*texts}) == len({*ticks}):
            break
    return texts


def number(value: float, digits: int = 3) -> str:
    """A number, with so many digits if it is not a whole one.

    >>> number(20000.0), number(0.25), number(1e-7), number(741.26, 4)
    ('20000', '0.25', '1e-07', '741.3')
    """
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e6 else f"{value:.{digits}g}"

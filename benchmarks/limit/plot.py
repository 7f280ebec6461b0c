"""The table as a plot in SVG: for each row, how many times the hand-written time each contender takes."""

from __future__ import annotations

import math
from html import escape
from typing import Any

COLOURS = {"gradtape": "#d62728", "jax": "#1f77b4", "torch": "#ff7f0e", "torch.compile": "#9467bd"}
TITLE = "time of value and gradient, as a multiple of hand-written C++ (of the best contender where there is none)"
LEFT, RIGHT, TOP, LINE, WIDTH = 140, 30, 56, 22, 860


def draw(results: dict[str, Any], before: dict[str, Any]) -> str:
    """The text of the SVG; `before` are earlier results, whose times of gradtape are drawn as rings."""
    rows = {name: _multiples(found, before.get(name, {})) for name, found in results.items()}
    largest = max((multiple for marks in rows.values() for multiple in marks.values()), default=1.0)
    decades = max(1, math.ceil(math.log10(largest)))
    height = TOP + LINE * len(rows) + 40

    def across(multiple: float) -> float:
        share = (math.log10(max(multiple, 0.5)) + 0.3) / (decades + 0.3)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"',
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="18">{TITLE}</text>',
    ]
    for place, (name, colour) in enumerate(COLOURS.items()):
        left = LEFT + 120 * place
        parts.append(
            f'<circle cx="{left + 6}" cy="36" r="5" fill="{colour}"/><text x="{left + 16}" y="40">{name}</text>'
        )
    if before:
        left = LEFT + 120 * len(COLOURS)
        parts.append(f'<circle cx="{left + 6}" cy="36" r="5" fill="none" stroke="{COLOURS["gradtape"]}"/>')
        parts.append(f'<text x="{left + 16}" y="40">gradtape, before</text>')
    for multiple in [2.0, 4.0, *(10.0**decade for decade in range(decades + 1))]:
        x, dashes = across(multiple), ' stroke-dasharray="3 3"' if multiple in (2.0, 4.0) else ""
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - 30}" stroke="#bbb"{dashes}/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 14}" text-anchor="middle">{multiple:g}</text>')
    for place, (name, marks) in enumerate(rows.items()):
        y = TOP + LINE * place + LINE / 2
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>')
        for contender, multiple in marks.items():
            colour = COLOURS[contender.removesuffix(", before")]
            paint = f'fill="none" stroke="{colour}"' if contender.endswith(", before") else f'fill="{colour}"'
            parts.append(
                f'<circle cx="{across(multiple):.1f}" cy="{y:.1f}" r="5" {paint}>'
                f"<title>{escape(name)}, {contender}: {multiple:.2f}</title></circle>"
            )
    return "\n".join([*parts, "</svg>", ""])


def _multiples(found: dict[str, Any], before: dict[str, Any]) -> dict[str, float]:
    times = {name: each["best"] for name, each in found.items() if "best" in each}
    unit = times.pop("C++", None) or min(times.values(), default=1.0)
    marks = {name: taken / unit for name, taken in reversed(times.items())}  # gradtape is drawn last, and so on top
    if "best" in before.get("gradtape", {}):
        marks = {"gradtape, before": before["gradtape"]["best"] / unit, **marks}
    return marks

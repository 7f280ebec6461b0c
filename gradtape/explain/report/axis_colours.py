"""Colours of dimensions: axes of one length carry one colour everywhere, so that an accidental N x N shows it twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from html import escape

from gradtape.core.shapes import Shape

# (background, text) in the light and in the dark: every text is readable on its background
COLOURS = (
    ("#d9e8fb", "#0b4a8f", "#16324f", "#9cc8f7"),
    ("#fde3c8", "#7d3c00", "#4a2c0c", "#f8bd83"),
    ("#d7f0dc", "#14602b", "#123d20", "#8fdca4"),
    ("#eadffb", "#5b2a9b", "#37235a", "#cdb3f7"),
    ("#fbdcea", "#97114f", "#4f1532", "#f6a6cb"),
    ("#d0f0f0", "#055a60", "#0b3f42", "#84dbdb"),
    ("#eeeec4", "#5a5600", "#3c3a0c", "#d9d67c"),
    ("#efe0d6", "#6e3d1c", "#442a19", "#e0b797"),
)


class Dimensions:
    """The colour of each length: the commonest lengths get one, the rest and axes of length 1 none.

    >>> dimensions = Dimensions([(200, 1), (200, 200), (3,)])
    >>> dimensions.colour(200), dimensions.colour(1), dimensions.colour(3)
    (0, None, 1)
    """

    def __init__(self, shapes: Iterable[Shape]) -> None:
        lengths = Counter(length for shape in shapes for length in shape if length > 1)
        ranked = sorted(lengths, key=lambda length: (-lengths[length], -length))
        self._colours = {length: index for index, length in enumerate(ranked[: len(COLOURS)])}

    def colour(self, length: int) -> int | None:
        """The number of the colour of an axis of this length, or None."""
        return self._colours.get(length)

    @property
    def lengths(self) -> list[int]:
        """The lengths that have a colour, the commonest first."""
        return list(self._colours)

    def chips(self, shape: Shape) -> str:
        """A shape with coloured lengths, as HTML."""
        return (
            f'<span class="shape" aria-label="{escape(shape_in_words(shape), quote=True)}">{self._chips(shape)}</span>'
        )

    def _chips(self, shape: Shape) -> str:
        if not shape:
            return '<i class="axis">scalar</i>'
        return "".join(f'<i class="axis{self._class(length)}">{length}</i>' for length in shape)

    def _class(self, length: int) -> str:
        colour = self.colour(length)
        return "" if colour is None else f" d{colour}"

    def draw(self, shape: Shape, x: float, y: float) -> tuple[str, float]:
        """A shape with coloured lengths, as SVG from `x` to the right; and its width."""
        parts = []
        begin = x
        for length in shape or (None,):
            text = "scalar" if length is None else str(length)
            width = 10 + 6.4 * len(text)
            name = "axis" if length is None else f"axis{self._class(length)}"
            parts.append(
                f'<g class="{name}"><rect x="{x:.1f}" y="{y - 8:.1f}" width="{width:.1f}" height="16" rx="4"/>'
                f'<text x="{x + width / 2:.1f}" y="{y + 3.8:.1f}" text-anchor="middle">{text}</text></g>'
            )
            x += width + 3
        return "".join(parts), x - begin


def shape_in_words(shape: Shape) -> str:
    """A shape in words.

    >>> shape_in_words((200, 1)), shape_in_words(())
    ('shape 200 by 1', 'a scalar')
    """
    if not shape:
        return "a scalar"
    return "shape " + " by ".join(map(str, shape))


def rules() -> str:
    """The style sheet of the colours."""
    light = "".join(f"--d{i}b:{b};--d{i}t:{t};" for i, (b, t, _, _) in enumerate(COLOURS))
    dark = "".join(f"--d{i}b:{b};--d{i}t:{t};" for i, (_, _, b, t) in enumerate(COLOURS))
    classes = "".join(
        f".d{i}{{background:var(--d{i}b);color:var(--d{i}t)}}.d{i} rect{{fill:var(--d{i}b)}}"
        f".d{i} text{{fill:var(--d{i}t)}}"
        for i in range(len(COLOURS))
    )
    return (
        f":root{{{light}}}[data-theme=dark]{{{dark}}}"
        f"@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}{classes}"
    )

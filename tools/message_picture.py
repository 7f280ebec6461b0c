"""Draws a message of gradtape as a terminal shows it, as an SVG that has its text.

    python -m tools.message_picture

runs docs/images/programs/train.py and writes docs/images/message.svg, which the README shows. A test compares the text
of the picture with what the program prints now.
"""

from __future__ import annotations

import re
import runpy
import sys
import unicodedata
from html import escape
from pathlib import Path

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PROGRAM, PICTURE = IMAGES / "programs" / "train.py", IMAGES / "message.svg"
COLUMN, ROW, MARGIN, BAR = 8.4, 20, 20, 34
"""Pixels: the width and height of a character, the margin, and the height of the title bar."""
FONT = "14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
COLOURS = {"1;31": "#ff8a80", "1": "#ffffff", "36": "#80d8e8", "1;33": "#ffd479", "32": "#a5e075", "2": "#9aa4b2"}
"""The fill of each ANSI code that messages use, on the dark background."""


def message() -> str:
    """What the program prints about its gradient, with the codes of colours."""
    import gradtape as gt

    found: list[str] = []
    with gt.explain.listening(lambda problem: found.append(problem.to_text(color=True))):
        runpy.run_path(str(PROGRAM))
    if len(found) != 1:
        raise ValueError(f"{PROGRAM.name} has to have one problem for the picture; {len(found)} were found")
    return found[0]


def draw(text: str, title: str) -> str:
    """An SVG of a terminal with this text, whose ANSI codes become colours."""
    rows = text.split("\n")
    width = MARGIN * 2 + COLUMN * max(len(plain(row)) for row in rows)
    height = BAR + MARGIN + ROW * len(rows)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" role="img" aria-label="{escape(title)}">',
        f"<style>text{{font:{FONT};white-space:pre}}</style>",
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#1d2430"/>',
        *(f'<circle cx="{20 + 18 * i}" cy="18" r="5.5" fill="#3d4757"/>' for i in range(3)),
        f'<text x="{width / 2:.0f}" y="23" text-anchor="middle" fill="#9aa4b2">{escape(title)}</text>',
    ]
    for number, row in enumerate(rows):
        y = BAR + MARGIN / 2 + ROW * number + 14
        column = 0
        for part in re.split(r"(\033\[[\d;]+m.*?\033\[0m)", row):
            code = re.match(r"\033\[([\d;]+)m", part)
            words, fill = plain(part), COLOURS[code[1]] if code else "#d7dce3"
            if words.strip():
                shift = len(words) - len(words.lstrip())
                x = MARGIN + COLUMN * (column + shift)
                length = COLUMN * len(words.strip())
                place = f'x="{x:.1f}" y="{y:.0f}" textLength="{length:.1f}"'
                drawn.append(f'<text {place} fill="{fill}">{escape(words.strip())}</text>')
            column += len(words)
    return "\n".join([*drawn, "</svg>\n"])


def plain(text: str) -> str:
    """The text without codes of colours."""
    return unicodedata.normalize("NFC", re.sub(r"\033\[[\d;]*m", "", text))


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(draw(message(), "gradtape run train.py"), encoding="utf-8")
    print(f"{PICTURE.relative_to(IMAGES.parents[1])} is written")


if __name__ == "__main__":
    sys.exit(main())

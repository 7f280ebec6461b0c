"""The user's source as HTML: beside each line its shape, a bar for the size of the gradient, and its state."""

from __future__ import annotations

import io
import keyword
import linecache
import math
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from gradtape.explain.model.problem import Problem, Span
from gradtape.explain.report.axis_colours import Dimensions
from gradtape.explain.report.fold import STATES, Group
from gradtape.explain.report.numbers import count, number
from gradtape.explain.report.svg import Scale
from gradtape.source_names import name_of_file

CONTEXT = 2  # lines shown around those with operations
SHORT_FILE = 60  # a file of at most so many lines is shown whole
ROWS_AT_MOST = 500
LONGEST_LINE = 400


@dataclass
class Line:
    """What is known of one source line."""

    groups: list[Group] = field(default_factory=list)
    verdicts: list[tuple[int, Problem]] = field(default_factory=list)

    @property
    def group(self) -> Group | None:
        """The group shown for the line: its operations rather than its leaves, the largest gradient first."""
        if not self.groups:
            return None
        return max(self.groups, key=lambda group: (group.kind == "line", group.state == "cut", group.size or 0.0))

    @property
    def weight(self) -> tuple[bool, bool, float]:
        """The sort key for the most important line: problems first, then cuts, then the largest gradient."""
        group = self.group
        size = 0.0 if group is None else (group.size or 0.0)
        return bool(self.verdicts), group is not None and group.state == "cut", size


class SourceListing:
    """The source files of the gradient, line by line."""

    def __init__(self) -> None:
        self.files: dict[str, dict[int, Line]] = {}
        self.shown: set[tuple[str, int]] = set()
        self.left_out = 0

    def line(self, file: str, number: int) -> Line:
        """The entry of a line of a file, made on first use."""
        return self.files.setdefault(file, {}).setdefault(number, Line())

    def anchor(self, file: str, number: int) -> str | None:
        """The name of a line in the page, if it is shown."""
        return f"l{list(self.files).index(file)}-{number}" if (file, number) in self.shown else None

    def choose(self) -> None:
        """Choose the lines to show: those with operations and some around; if there are many, the most important."""
        known = [(file, number) for file, lines in self.files.items() for number in lines if number]
        ranked = sorted(known, key=lambda place: self.files[place[0]][place[1]].weight, reverse=True)
        chosen = ranked[:ROWS_AT_MOST]
        self.left_out = len(ranked) - len(chosen)
        for file in self.files:
            total = len(linecache.getlines(file))
            own = [at for name, at in chosen if name == file]
            around = range(1, total + 1) if total <= SHORT_FILE and own else ()
            for at in own:
                near = range(at - CONTEXT, at + CONTEXT + 1) if len(chosen) < ROWS_AT_MOST else (at,)
                self.shown.update((file, other) for other in near if 0 < other <= total)
            self.shown.update((file, other) for other in around)

    def html(self, dimensions: Dimensions) -> str:
        """All files, one table each."""
        sizes = [group.size for lines in self.files.values() for line in lines.values() for group in line.groups]
        scale = Scale(sizes)
        parts = [self._file(file, dimensions, scale) for file in self.files]
        if self.left_out:
            parts.append(f"<p>{count(self.left_out)} more lines took part and are not shown.</p>")
        return "\n".join(part for part in parts if part)

    def _file(self, file: str, dimensions: Dimensions, scale: Scale) -> str:
        numbers = sorted(number for name, number in self.shown if name == file)
        if not numbers:
            return ""
        text = [line.rstrip("\n") for line in linecache.getlines(file)]
        colours = _tokens("\n".join(text) + "\n")
        rows = []
        previous = 0
        for at in numbers:
            if at > previous + 1:
                rows.append(_gap(at - previous - 1))
            rows.append(self._row(file, at, text[at - 1], colours.get(at, []), dimensions, scale))
            previous = at
        if previous < len(text):
            rows.append(_gap(len(text) - previous))
        head = "".join(f'<th scope="col">{name}</th>' for name in ("line", "source", "result", "gradient"))
        return (
            f'<div class="sheet"><h3 title="{escape(file, quote=True)}">{escape(name_of_file(file))}</h3>'
            f'<table class="source" role="table"><thead><tr role="row">{head}</tr></thead>'
            f'<tbody role="rowgroup">{"".join(rows)}</tbody></table></div>'
        )

    def _row(
        self,
        file: str,
        at: int,
        text: str,
        colours: list[tuple[int, int, str]],
        dimensions: Dimensions,
        scale: Scale,
    ) -> str:
        line = self.files[file].get(at, Line())
        group = line.group
        name = f"l{list(self.files).index(file)}-{at}"
        marked = [
            (span.column, span.end_column)
            for _, problem in line.verdicts
            for span in _own_spans(problem, file, at)
            if span.column is not None and span.end_column is not None
        ]
        code = _highlight(text[:LONGEST_LINE], colours, marked)
        state = "quiet" if group is None else group.state
        accused = " accused" if line.verdicts else ""
        codes = "".join(
            f'<a class="badge code" href="#v{index}">{escape(problem.code)}</a>'
            for index, problem in line.verdicts
            if problem.code
        )
        margin = codes
        gradient = ""
        if group is not None:
            times = f'<span class="badge">&times; {count(group.count)}</span>' if group.count > 1 else ""
            shapes = [] if group.shape is None else [group.shape]
            if group.kind == "leaf":
                shapes = list(dict.fromkeys(place.shape for other in line.groups for place in other.places))[:3]
            margin += times + " ".join(dimensions.chips(shape) for shape in shapes)
            gradient = _gradient(group, scale)
        key = escape(f"{file}:{at}", quote=True)
        return (
            f'<tr role="row" id="{name}" class="{state}{accused}" data-line="{key}">'
            f'<td role="cell" class="ln"><a href="#{name}">{at}</a></td>'
            f'<td role="cell" class="code"><code>{code}</code></td>'
            f'<td role="cell" class="margin">{margin}</td><td role="cell" class="grad">{gradient}</td></tr>'
        )


def _own_spans(problem: Problem, file: str, at: int) -> list[Span]:
    return [
        span
        for span in problem.spans[:1]
        if (span.file, span.line) == (file, at) and span.end_line in (None, span.line)
    ]


def _gradient(group: Group, scale: Scale) -> str:
    """The bar and its number; words where there is no gradient."""
    if group.size is None:
        words = {"leaf": "no gradient", "left": "left the tape"}.get(group.kind, "constant")
        words = "not known" if group.state == "unknown" else words
        return f'<span class="state">{"cut" if group.state == "cut" else words}</span>'
    share = 100 * (0.06 + 0.94 * scale(group.size)) if group.size != 0 else 0
    is_bad = math.isnan(group.size)
    meter = (
        f'<span class="meter{" cut" if is_bad else ""}" aria-hidden="true"><b style="width:{share:.0f}%"></b></span>'
    )
    size = f'<span class="{"state cut" if is_bad else "number"}">{number(group.size)}</span>'
    cut = "" if not group.cuts else f' <span class="state cut">{"cut" if group.state == "cut" else "part cut"}</span>'
    return f'{meter}{size}{cut}<span class="hidden">, {STATES[group.state]}</span>'


def _gap(lines: int) -> str:
    words = "1 line" if lines == 1 else f"{count(lines)} lines"
    return f'<tr role="row" class="gap"><td role="cell" colspan="4">{words}</td></tr>'


def _tokens(text: str) -> dict[int, list[tuple[int, int, str]]]:
    """Keywords, strings and comments, by line; as far as the text is Python."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = {tokenize.COMMENT: "c", tokenize.STRING: "s"}.get(token.type, "")
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                kind = "k"
            if not kind:
                continue
            for line in range(token.start[0], token.end[0] + 1):
                start = token.start[1] if line == token.start[0] else 0
                end = token.end[1] if line == token.end[0] else LONGEST_LINE
                found.setdefault(line, []).append((start, end, kind))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return found
    return found


def _highlight(text: str, colours: Sequence[tuple[int, int, str]], marked: Sequence[tuple[int, int]]) -> str:
    """A line with its colours and marks, everything in it escaped."""
    pieces = [(start, end) for start, end, _ in colours]
    ends = sorted({0, len(text), *(min(end, len(text)) for piece in (*pieces, *marked) for end in piece)})
    parts = []
    for start, end in pairwise(ends):
        piece = escape(text[start:end])
        kind = next((name for a, b, name in colours if a <= start < b), "")
        if kind:
            piece = f'<span class="{kind}">{piece}</span>'
        if any(a <= start < b for a, b in marked):
            piece = f"<mark>{piece}</mark>"
        parts.append(piece)
    return "".join(parts)

"""A finding as text for a terminal, and as HTML."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

from gradtape.explain.model.problem import Fix, Operand, Problem, Span

LINES_SHOWN = 4  # of an expression that has more
_STYLES = {"code": "1;31", "title": "1", "place": "36", "mark": "1;33", "fix": "32", "dim": "2"}


class _Ink:
    """Puts colours on text, or does not."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, style: str, text: str) -> str:
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self.color and text.strip() else text


def text(problem: Problem, color: bool = False, width: int = 80) -> str:
    """The finding for a terminal of `width` columns."""
    ink = _Ink(color)
    head = ink("code", f"[{problem.code}]") + " " if problem.code else ""
    lines = [head + ink("title", visible(problem.title))]
    for index, span in enumerate(problem.spans):
        lines += _source(span, problem.operands if index == 0 else (), ink, width)
    if not problem.spans:
        lines += [f"    {visible(operand.describe())}" for operand in problem.operands]
    lines += _table(problem.details.get("table"), ink)
    lines += [f"  {visible(row)}" for row in problem.details.get("path", ())]
    for note in problem.details.get("notes", ()):
        lines += _wrapped(note, "  ", "  ", width)
    if problem.consequence:
        lines += _wrapped(problem.consequence, "  ", "  ", width)
    lines += _fixes(problem, ink, width)
    if problem.intent:
        lines += _wrapped(problem.intent, "  meant it?  ", " " * 13, width)
    if problem.code:
        lines.append(ink("dim", f"  more: gradtape why {' '.join(problem.codes)}"))
    return "\n".join(line.rstrip() for line in lines)


def visible(text: str) -> str:
    """`text` without what would move a terminal's cursor or change its colours."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else "?" for c in text)


def _wrapped(text: str, first: str, rest: str, width: int) -> list[str]:
    lines: list[str] = []
    for index, paragraph in enumerate(visible(text).split("\n")):
        lead = first if index == 0 else rest
        if paragraph.startswith(" "):  # laid out by whoever wrote it
            lines.append(lead + paragraph)
            continue
        lines += textwrap.wrap(
            paragraph,
            width,
            initial_indent=lead,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [lead]
    return lines


# -- the source line, and what is drawn under it


def _source(span: Span, operands: Sequence[Operand], ink: _Ink, width: int) -> list[str]:
    """The place and the line; under it the expression, underlined, and its operands."""
    place = f"  {visible(span.place)}"
    if not span.source.strip():
        return [ink("place", place) + (f"   {span.label}" if span.label else ""), *_listed(operands)]
    raw = span.source.expandtabs(1).split("\n")
    if len(raw) > LINES_SHOWN:
        raw = [*raw[: LINES_SHOWN - 1], raw[-1]]
        skipped = True
    else:
        skipped = False
    indent = min(len(line) - len(line.lstrip()) for line in raw if line.strip())
    raw = [visible(line[indent:].rstrip()) for line in raw]
    lead = len(place) + 3
    if len(raw) > 1 or span.column is None or span.end_column is None:
        lines = [ink("place", place) + "   " + _cropped(raw[0], 0, 0, max(width - lead, 30))[0]]
        lines += [" " * lead + line for line in raw[1:]]
        if skipped:
            lines.insert(-1, " " * lead + "...")
        if span.label:
            lines.append(" " * lead + ink("mark", f"^ {span.label}"))
        return lines + _listed(operands, lead)
    start, end = span.column - indent, span.end_column - indent
    shown, start, end, shift = _cropped_span(raw[0], start, end, max(width - lead, 30))
    lines = [ink("place", place) + "   " + shown]
    places = [
        (operand.span.column - indent + shift, operand.span.end_column - indent + shift)
        for operand in operands
        if operand.span is not None
        and operand.span.line == span.line
        and operand.span.end_line in (None, span.line)
        and operand.span.column is not None
        and operand.span.end_column is not None
    ]
    drawable = places and len(places) == len(operands) and all(0 <= a < b <= len(shown) for a, b in places)
    if not drawable or any(left[1] > right[0] for left, right in pairwise(places)):
        mark = ink("mark", "~" * max(end - start, 1)) + (f" {span.label}" if span.label else "")
        return [*lines, " " * (lead + start) + mark, *_listed(operands, lead)]
    marks = [" "] * len(shown)
    for a, b in places:
        marks[a:b] = "~" * (b - a)
    for left, right in pairwise(places):
        between = shown[left[1] : right[0]]
        operator = re.search(r"[-+*/@%<>=!&|^~]+", between)
        if operator:
            marks[left[1] + operator.start() : left[1] + operator.end()] = "^" * len(operator.group())
    row = "".join(marks).rstrip()
    lines.append(" " * lead + ink("mark", row) + (f"   {span.label}" if span.label else ""))
    return lines + [" " * lead + row for row in _leaders(places, operands, width - lead)]


def _leaders(places: Sequence[tuple[int, int]], operands: Sequence[Operand], room: int) -> list[str]:
    """For each operand, the last first, a line that leads down from it to its name, shape and origin."""
    names = max(len(operand.name) for operand in operands)
    shapes = max(len(_what(operand)) for operand in operands)
    rows = []
    for index in range(len(operands) - 1, -1, -1):
        bars = [" "] * places[index][0]
        for a, _ in places[:index]:
            bars[a] = "|"
        operand = operands[index]
        what = f"{operand.name:<{names}}  {_what(operand):<{shapes}}  "
        row = "".join(bars) + "`- " + visible(what + operand.come_from).rstrip()
        if len(row) > room and operand.origin is not None:  # the place is more use than the expression
            row = "".join(bars) + "`- " + visible(f"{what}from {operand.origin.place}")
        rows.append(row)
    return rows


def _listed(operands: Sequence[Operand], lead: int = 4) -> list[str]:
    """The operands, one in a line, where they cannot be drawn under the expression."""
    if not operands:
        return []
    names = max(len(operand.name) for operand in operands)
    shapes = max(len(_what(operand)) for operand in operands)
    rows = [f"{o.name:<{names}}  {_what(o):<{shapes}}  {o.come_from}" for o in operands]
    return [" " * min(lead, 4) + visible(row).rstrip() for row in rows]


def _what(operand: Operand) -> str:
    return str(operand.dtype) if operand.shape is None else str(operand.shape)


def _cropped(line: str, start: int, end: int, room: int) -> tuple[str, int]:
    """`line` cut to `room` columns so that `start` to `end` is seen; and by how much it moved."""
    if len(line) <= room:
        return line, 0
    first = max(0, min(start - room // 3, len(line) - room)) if end > room else 0
    cut = line[first : first + room]
    if first + room < len(line):
        cut = cut[:-3] + "..."
    if first:
        cut = "..." + cut[3:]
    return cut, -first


def _cropped_span(line: str, start: int, end: int, room: int) -> tuple[str, int, int, int]:
    shown, shift = _cropped(line, start, end, room)
    return shown, max(start + shift, 0), min(max(end + shift, 1), len(shown)), shift


# -- the rest


def _table(table: Any, ink: _Ink) -> list[str]:
    """Shapes, one below the other, aligned at the last axis; the guilty axes marked."""
    if not table:
        return []
    rows = [(str(name), [str(cell) for cell in cells]) for name, cells in table["rows"]]
    count = max(len(cells) for _, cells in rows)
    padded = [(name, [""] * (count - len(cells)) + cells) for name, cells in rows]
    names = max(len(name) for name, _ in rows)
    widths = [max(3, *(len(cells[i]) for _, cells in padded)) for i in range(count)]
    remarks = {int(number): remark for number, remark in dict(table.get("remarks", {})).items()}
    lines = []
    for number, (name, cells) in enumerate(padded):
        body = "  ".join(f"{cell:>{widths[i]}}" for i, cell in enumerate(cells))
        remark = f"   {remarks[number]}" if number in remarks else ""
        lines.append(visible(f"     {name:<{names}} | {body} |{remark}"))
    marked = [i % count for i in table.get("marked", ())]
    if marked:
        marks = "  ".join(
            ("^" * max(len(c[i]) for _, c in padded)).rjust(widths[i]) if i in marked else " " * widths[i]
            for i in range(count)
        )
        lines.append(" " * (names + 8) + ink("mark", marks) + f"   {table.get('remark', '')}")
    return lines


def _fixes(problem: Problem, ink: _Ink, width: int) -> list[str]:
    lines: list[str] = []
    checked = [fix for fix in problem.fixes if fix.checked]
    advice = [fix for fix in problem.fixes if not fix.checked]
    rows = [("fix (checked): ", fix) for fix in checked] + [("fix: ", fix) for fix in advice]
    for index, (label, fix) in enumerate(rows):
        same = index > 0 and rows[index - 1][0] == label
        lead = ("or: " if same else label).rjust(len(label)) if same else label
        elsewhere = ""
        if fix.replaces is not None and problem.main is not None and fix.replaces.line != problem.main.line:
            elsewhere = f"   ({fix.replaces.place})"
        if fix.checked:
            shown = " ".join(visible(fix).split()) if "\n" in fix else visible(fix)
            lines.append(f"  {lead}{ink('fix', shown)}{elsewhere}")
        else:
            lines += _wrapped(fix, f"  {lead}", "  " + " " * len(lead), width)
    return lines


def html(problem: Problem) -> str:
    """The finding as one article; every string of the user's is escaped."""
    parts = [f'<article class="gradtape-problem" data-code="{escape(problem.code, quote=True)}">']
    code = f'<span class="gradtape-code">{escape(problem.code)}</span> ' if problem.code else ""
    parts.append(f'<h4 class="gradtape-title">{code}{escape(problem.title)}</h4>')
    parts += [_html_span(span) for span in problem.spans]
    if problem.operands:
        rows = "".join(
            f"<tr><th scope='row'><code>{escape(o.name)}</code></th><td>{escape(_what(o))}</td>"
            f"<td>{escape(str(o.dtype or ''))}</td><td>{escape(o.come_from)}</td></tr>"
            for o in problem.operands
        )
        parts.append(f'<table class="gradtape-operands"><tbody>{rows}</tbody></table>')
    drawing = _table(problem.details.get("table"), _Ink(False))
    if drawing:
        parts.append(f'<pre class="gradtape-shapes">{escape(textwrap.dedent(chr(10).join(drawing)))}</pre>')
    if problem.details.get("path"):
        parts.append(f'<pre class="gradtape-path">{escape(chr(10).join(problem.details["path"]))}</pre>')
    for note in problem.details.get("notes", ()):
        parts.append(f'<p class="gradtape-note">{_lines(note)}</p>')
    if problem.consequence:
        parts.append(f'<p class="gradtape-consequence">{_lines(problem.consequence)}</p>')
    if problem.fixes:
        items = "".join(_html_fix(problem, fix) for fix in problem.fixes)
        parts.append(f'<div class="gradtape-fixes"><strong>fix</strong><ul>{items}</ul></div>')
    if problem.intent:
        parts.append(f'<p class="gradtape-intent"><strong>meant it?</strong> {_lines(problem.intent)}</p>')
    return "\n".join([*parts, "</article>"])


def _html_fix(problem: Problem, fix: Fix) -> str:
    """A piece of source, with its place where that is another line; advice is prose."""
    if not fix.checked:
        return f'<li class="advice">{_lines(fix)}</li>'
    elsewhere = ""
    if fix.replaces is not None and problem.main is not None and fix.replaces.line != problem.main.line:
        elsewhere = f' <span class="gradtape-place">{escape(fix.replaces.place)}</span>'
    return f'<li class="checked"><code>{_lines(fix)}</code>{elsewhere}</li>'


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _html_span(span: Span) -> str:
    """The place, and the line with the expression marked."""
    lines = span.source.split("\n")
    if span.column is not None and span.end_column is not None and span.source:
        start, end = span.column, len(span.source) - len(lines[-1]) + span.end_column
        source = (
            f"{escape(span.source[:start])}<mark>{escape(span.source[start:end])}</mark>{escape(span.source[end:])}"
        )
    else:
        source = escape(span.source)
    label = f' <span class="gradtape-label">{escape(span.label)}</span>' if span.label else ""
    place = f'<span class="gradtape-place">{escape(span.place)}</span>'
    return f'<div class="gradtape-span">{place}{label}<pre><code>{source}</code></pre></div>'

"""Renders a problem as text for a terminal."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from gradtape.explain.model.problem import Fix, Operand, Problem, Span

LINES_SHOWN = 4  # of a longer expression
_STYLES = {"code": "1;31", "title": "1", "place": "36", "mark": "1;33", "fix": "32", "dim": "2"}


class AnsiStyle:
    """Wraps text in the ANSI codes of a part (title, place, mark ...); without `color`, returns it unchanged."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, part: str, text: str) -> str:
        return f"\033[{_STYLES[part]}m{text}\033[0m" if self.color and text.strip() else text


def render_text(problem: Problem, color: bool = False, width: int = 80) -> str:
    """The problem for a terminal of `width` columns."""
    style = AnsiStyle(color)
    head = style("code", f"[{problem.code}]") + " " if problem.code else ""
    lines = [head + style("title", visible(problem.title))]
    for index, span in enumerate(problem.spans):
        lines += _draw_source(span, problem.operands if index == 0 else (), style, width)
    if not problem.spans:
        lines += [f"    {visible(operand.describe())}" for operand in problem.operands]
    lines += draw_table(problem.details.get("table"), style)
    lines += [f"  {visible(row)}" for row in problem.details.get("path", ())]
    for note in problem.details.get("notes", ()):
        lines += _wrap(note, "  ", "  ", width)
    if problem.consequence:
        lines += _wrap(problem.consequence, "  ", "  ", width)
    lines += _list_fixes(problem, style, width)
    if problem.intent:
        lines += _wrap(problem.intent, "  meant it?  ", " " * 13, width)
    if problem.code:
        lines.append(style("dim", f"  more: gradtape why {' '.join(problem.codes)}"))
    return "\n".join(line.rstrip() for line in lines)


def visible(text: str) -> str:
    """`text` with control characters, which could move a terminal's cursor or change its colours, replaced by "?"."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else "?" for c in text)


def _wrap(text: str, first: str, rest: str, width: int) -> list[str]:
    lines: list[str] = []
    for index, paragraph in enumerate(visible(text).split("\n")):
        lead = first if index == 0 else rest
        if paragraph.startswith(" "):  # indented text keeps its own layout
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


# -- the source line and the marks under it


def _draw_source(span: Span, operands: Sequence[Operand], style: AnsiStyle, width: int) -> list[str]:
    """The place and the source line; under it the expression, underlined, and its operands."""
    place = f"  {visible(span.place)}"
    if not span.source.strip():
        return [style("place", place) + (f"   {span.label}" if span.label else ""), *_list_operands(operands)]
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
        lines = [style("place", place) + "   " + _crop(raw[0], 0, 0, max(width - lead, 30))[0]]
        lines += [" " * lead + line for line in raw[1:]]
        if skipped:
            lines.insert(-1, " " * lead + "...")
        if span.label:
            lines.append(" " * lead + style("mark", f"^ {span.label}"))
        return lines + _list_operands(operands, lead)
    start, end = span.column - indent, span.end_column - indent
    shown, start, end, shift = _crop_span(raw[0], start, end, max(width - lead, 30))
    lines = [style("place", place) + "   " + shown]
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
        mark = style("mark", "~" * max(end - start, 1)) + (f" {span.label}" if span.label else "")
        return [*lines, " " * (lead + start) + mark, *_list_operands(operands, lead)]
    marks = [" "] * len(shown)
    for a, b in places:
        marks[a:b] = "~" * (b - a)
    for left, right in pairwise(places):
        between = shown[left[1] : right[0]]
        operator = re.search(r"[-+*/@%<>=!&|^~]+", between)
        if operator:
            marks[left[1] + operator.start() : left[1] + operator.end()] = "^" * len(operator.group())
    row = "".join(marks).rstrip()
    lines.append(" " * lead + style("mark", row) + (f"   {span.label}" if span.label else ""))
    return lines + [" " * lead + row for row in _draw_leaders(places, operands, width - lead)]


def _draw_leaders(places: Sequence[tuple[int, int]], operands: Sequence[Operand], room: int) -> list[str]:
    """For each operand, the last first, a line leading down from it to its name, shape and origin."""
    names = max(len(operand.name) for operand in operands)
    shapes = max(len(shape_or_dtype(operand)) for operand in operands)
    rows = []
    for index in range(len(operands) - 1, -1, -1):
        bars = [" "] * places[index][0]
        for a, _ in places[:index]:
            bars[a] = "|"
        operand = operands[index]
        what = f"{operand.name:<{names}}  {shape_or_dtype(operand):<{shapes}}  "
        row = "".join(bars) + "`- " + visible(what + operand.come_from).rstrip()
        if len(row) > room and operand.origin is not None:  # file and line are of more use than the expression
            row = "".join(bars) + "`- " + visible(f"{what}from {operand.origin.place}")
        rows.append(row)
    return rows


def _list_operands(operands: Sequence[Operand], lead: int = 4) -> list[str]:
    """The operands, one per line, where they cannot be drawn under the expression."""
    if not operands:
        return []
    names = max(len(operand.name) for operand in operands)
    shapes = max(len(shape_or_dtype(operand)) for operand in operands)
    rows = [f"{o.name:<{names}}  {shape_or_dtype(o):<{shapes}}  {o.come_from}" for o in operands]
    return [" " * min(lead, 4) + visible(row).rstrip() for row in rows]


def shape_or_dtype(operand: Operand) -> str:
    """The shape of an array; of anything else the name of its type, which `dtype` holds."""
    return str(operand.dtype) if operand.shape is None else str(operand.shape)


def _crop(line: str, start: int, end: int, room: int) -> tuple[str, int]:
    """`line` cut to `room` columns so that `start` to `end` is visible, and the offset of its columns."""
    if len(line) <= room:
        return line, 0
    first = max(0, min(start - room // 3, len(line) - room)) if end > room else 0
    cut = line[first : first + room]
    if first + room < len(line):
        cut = cut[:-3] + "..."
    if first:
        cut = "..." + cut[3:]
    return cut, -first


def _crop_span(line: str, start: int, end: int, room: int) -> tuple[str, int, int, int]:
    shown, shift = _crop(line, start, end, room)
    return shown, max(start + shift, 0), min(max(end + shift, 1), len(shown)), shift


# -- the table of shapes, and the fixes


def draw_table(table: Any, style: AnsiStyle) -> list[str]:
    """Shapes, one below the other, aligned at the last axis; the axes that do not fit are marked."""
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
        lines.append(" " * (names + 8) + style("mark", marks) + f"   {table.get('remark', '')}")
    return lines


def _list_fixes(problem: Problem, style: AnsiStyle, width: int) -> list[str]:
    lines: list[str] = []
    checked = [fix for fix in problem.fixes if fix.checked]
    others = [fix for fix in problem.fixes if not fix.checked]
    rows = [("fix (checked): ", fix) for fix in checked] + [("fix: ", fix) for fix in others]
    for index, (label, fix) in enumerate(rows):
        same = index > 0 and rows[index - 1][0] == label
        lead = ("or: " if same else label).rjust(len(label)) if same else label
        elsewhere = ""
        if fix.replaces is not None and problem.main is not None and fix.replaces.line != problem.main.line:
            elsewhere = f"   ({fix.replaces.place})"
        if fix.checked or fix.is_edit:
            first, *more = _dedented(fix)
            lines.append(f"  {lead}{style('fix', first)}{elsewhere}")
            lines += [f"  {' ' * len(lead)}{style('fix', line)}" for line in more]
        else:
            lines += _wrap(fix, f"  {lead}", "  " + " " * len(lead), width)
    return lines


def _dedented(fix: Fix) -> list[str]:
    """The lines of a fix; those after the first without the indentation of the region that it takes the place of."""
    first, *more = visible(fix).split("\n")
    indent = (fix.replaces.column or 0) if fix.replaces is not None else 0
    return [first, *(line[indent:] if not line[:indent].strip() else line.lstrip() for line in more)]

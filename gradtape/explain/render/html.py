"""Renders a problem as HTML: for notebooks and the report."""

from __future__ import annotations

import textwrap
from html import escape

from gradtape.explain.model.problem import Fix, Problem, Span
from gradtape.explain.render.text import AnsiStyle, draw_table, shape_or_dtype


def render_html(problem: Problem) -> str:
    """The problem as one `<article>`; every string is escaped."""
    parts = [f'<article class="gradtape-problem" data-code="{escape(problem.code, quote=True)}">']
    code = f'<span class="gradtape-code">{escape(problem.code)}</span> ' if problem.code else ""
    parts.append(f'<h4 class="gradtape-title">{code}{escape(problem.title)}</h4>')
    parts += [_render_span(span) for span in problem.spans]
    if problem.operands:
        rows = "".join(
            f"<tr><th scope='row'><code>{escape(o.name)}</code></th><td>{escape(shape_or_dtype(o))}</td>"
            f"<td>{escape(str(o.dtype or ''))}</td><td>{escape(o.come_from)}</td></tr>"
            for o in problem.operands
        )
        parts.append(f'<table class="gradtape-operands"><tbody>{rows}</tbody></table>')
    drawing = draw_table(problem.details.get("table"), AnsiStyle(False))
    if drawing:
        parts.append(f'<pre class="gradtape-shapes">{escape(textwrap.dedent(chr(10).join(drawing)))}</pre>')
    if problem.details.get("path"):
        parts.append(f'<pre class="gradtape-path">{escape(chr(10).join(problem.details["path"]))}</pre>')
    for note in problem.details.get("notes", ()):
        parts.append(f'<p class="gradtape-note">{_escape_lines(note)}</p>')
    if problem.consequence:
        parts.append(f'<p class="gradtape-consequence">{_escape_lines(problem.consequence)}</p>')
    if problem.fixes:
        items = "".join(_render_fix(problem, fix) for fix in problem.fixes)
        parts.append(f'<div class="gradtape-fixes"><strong>fix</strong><ul>{items}</ul></div>')
    if problem.intent:
        parts.append(f'<p class="gradtape-intent"><strong>meant it?</strong> {_escape_lines(problem.intent)}</p>')
    return "\n".join([*parts, "</article>"])


def _render_fix(problem: Problem, fix: Fix) -> str:
    """Checked fixes and edits as code, with their place if that is another line than the main one; advice as prose."""
    if not fix.checked and not fix.is_edit:
        return f'<li class="advice">{_escape_lines(fix)}</li>'
    elsewhere = ""
    if fix.replaces is not None and problem.main is not None and fix.replaces.line != problem.main.line:
        elsewhere = f' <span class="gradtape-place">{escape(fix.replaces.place)}</span>'
    kind = "checked" if fix.checked else "edit"
    return f'<li class="{kind}"><code>{_escape_lines(fix)}</code>{elsewhere}</li>'


def _escape_lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _render_span(span: Span) -> str:
    """The place, and the source line with the expression marked."""
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

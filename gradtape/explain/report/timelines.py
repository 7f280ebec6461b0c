"""Where the time of compiled functions goes: a table for each, by source line, from their timelines."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from gradtape.explain.report.numbers import count

LINES_LISTED = 40
QUOTES = "'"


def timelines_section(timelines: Sequence[Any]) -> str:
    """The section about compiled functions; empty if none was timed."""
    if not timelines:
        return ""
    return (
        '<section id="compiled" aria-labelledby="hc"><h2 id="hc">Compiled functions</h2>'
        '<p class="lead">The time of one run, by source line, measured after collecting ended: forward and backward '
        "pass together. What is marked ~ was fused with other lines; their time is split by the work of each.</p>"
        f"{''.join(map(_table, timelines))}</section>"
    )


def _table(timeline: Any) -> str:
    rows = []
    for line in timeline.lines[:LINES_LISTED]:
        share = line.seconds / timeline.seconds if timeline.seconds else 0.0
        mark = "~" if line.estimated else ""
        rows.append(
            f'<tr><th scope="row"><code>{escape(line.place)}</code></th>'
            f'<td class="number" data-value="{line.seconds:.9g}">{mark}{escape(timeline.duration(line.seconds))}</td>'
            f'<td class="number" data-value="{share:.6g}"><span class="meter" aria-hidden="true">'
            f'<b style="width:{100 * share:.0f}%"></b></span>{share:.0%}</td>'
            f"<td><code>{escape(line.source)}</code></td></tr>"
        )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("line", "time", "share", "source"))
    more = len(timeline.lines) - len(rows)
    rest = f"<p>{count(more)} more lines not shown.</p>" if more > 0 else ""
    return (
        f"<h3>{escape(timeline.name.strip(QUOTES))}</h3>"
        f'<p class="lead">{escape(timeline.duration(timeline.seconds))} a run, on {escape(timeline.given)}; '
        f"native groups: {count(len(timeline.groups))}, NumPy kernels: "
        f"{count(len(timeline.steps) - len(timeline.groups))}.</p>"
        '<div class="tablebox" tabindex="0" role="region" aria-label="Times, scrolls">'
        f'<table class="sources timed sortable" data-kind="time"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{rest}"
    )

"""The page: one self-contained HTML file. Every string from the user's program goes through `escape`."""

from __future__ import annotations

import base64
import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from gradtape.atomic_write import write_atomically
from gradtape.core.location import Location
from gradtape.explain.emit.severity import severity
from gradtape.explain.model.problem import Problem
from gradtape.explain.report import axis_colours as colours
from gradtape.explain.report.axis_colours import Dimensions
from gradtape.explain.report.facts import ExpressionGroup, Facts, GradientSource
from gradtape.explain.report.fold import STATES, FoldedGraph, Group, by_line, fold
from gradtape.explain.report.listing import SourceListing
from gradtape.explain.report.numbers import count, number, size, stretch
from gradtape.explain.report.spread import Spread
from gradtape.explain.report.svg import graph, sparkline
from gradtape.explain.report.timelines import timelines_section
from gradtape.explain.report.training import training_section

OPERATIONS_LISTED = 40
SOURCES_LISTED = 200
VERDICTS_LISTED = 100

STYLE = Path(__file__).with_name("style.css")
SCRIPTS = tuple(Path(__file__).with_name(f"{name}.js") for name in ("script", "zoom", "search", "tables"))

SEARCH = """<form id="search" role="search" hidden><label class="hidden" for="query">Search the report</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Search" role="combobox"
 title="A name, train.py:12, an operation, a shape such as 8 x 12, or code. / goes here, n to the next find"
 aria-expanded="false" aria-controls="found" aria-autocomplete="list">
<ol id="found" role="listbox" aria-label="What was found" hidden></ol>
<span id="foundcount" role="status"></span></form>"""

ZOOM = "".join(
    f'<button type="button" data-do="{does}" title="{title}"{more}>{text}</button>{after}'
    for does, title, text, more, after in [
        ("out", "Smaller (-)", "&minus;", ' aria-label="Smaller"', "<output>100 %</output>"),
        ("in", "Larger (+)", "+", ' aria-label="Larger"', ""),
        ("fit", "The whole graph (0)", "Fit", "", ""),
        ("whole", "Full size (1)", "1:1", ' aria-label="Full size"', ""),
        ("expand", "Fill the window (Escape leaves it)", "Expand", "", ""),
    ]
)


def _is_note(problem: Problem) -> bool:
    return bool(problem.code) and severity(problem.code) in ("note", "off")


@dataclass
class Report:
    """The content of a page: gradients and problems, under a title.

    >>> print(Report("nothing yet").to_text())
    nothing yet: no gradient was asked for
    """

    title: str
    gradients: list[Facts] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    timelines: list[Any] = field(default_factory=list)

    def to_html(self) -> str:
        """The page."""
        return _Page(self).html()

    def to_text(self) -> str:
        """The problems and the sources, for a terminal."""
        lines = [f"{self.title}: {self._summary()}"]
        lines += [problem.to_text() for problem in self.problems]
        for facts in self.gradients:
            for source in facts.sources:
                lines.append(f"  {source.name}  {source.shape}  {arrival(source, facts)}")
        return "\n".join(lines)

    def _summary(self) -> str:
        if not self.gradients:
            return "no gradient was asked for"
        operations = sum(facts.operations for facts in self.gradients)
        return f"{_many(operations, 'operation')}, {_many(len(self.problems), 'verdict')}"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`."""
        target = Path(path)
        write_atomically(target, self.to_html().encode())
        return target

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        page = escape(self.to_html(), quote=True)
        frame = (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="{escape(self.title, quote=True)}" '
            'style="width:100%;height:760px;border:1px solid #8884;border-radius:10px"></iframe>'
        )
        return {"text/plain": self.to_text(), "text/html": frame}


def arrival(source: GradientSource, facts: Facts) -> str:
    """The gradient that arrived at a source, or why none did, in a few words."""
    if source.gradient is not None and source.gradient.bad:
        return "not finite"
    if source.gradient is not None:
        return "zero everywhere" if source.gradient.norm == 0 else f"norm {number(source.gradient.norm)}"
    return "None" if facts.sized or source.reason is not None else "not known"


def _many(number_: int, noun: str) -> str:
    return f"{count(number_)} {noun}{'' if number_ == 1 else 's'}"


class _Page:
    """Assembles the parts; maps each problem to its lines and nodes."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.folded = [fold(facts) for facts in report.gradients]
        self.problems = sorted(report.problems, key=_is_note)[:VERDICTS_LISTED]  # errors and warnings before notes
        self.listing = SourceListing()
        for facts in report.gradients:
            for group in by_line(facts).groups:
                if group.line:
                    self.listing.line(group.file, group.line).groups.append(group)
        for index, problem in enumerate(self.problems):
            span = problem.main
            if span is not None and span.line:
                self.listing.line(span.file, span.line).verdicts.append((index, problem))
        self.listing.choose()
        self.dimensions = Dimensions(
            shape
            for folded in self.folded
            for group in folded.groups
            for place in group.places
            for shape in place.shapes
        )

    def html(self) -> str:
        script = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
        style = STYLE.read_text(encoding="utf-8") + colours.rules()
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
        title = escape(self.report.title)
        gradients = [self._gradient(index) for index in range(len(self.folded))]
        several = len(self.folded) > 1
        training = [training_section(i, facts.steps, several) for i, facts in enumerate(self.report.gradients)]
        body = "\n".join([self._head(), self._verdicts(), *training, self._source(), *gradients])
        links = [("verdicts", "Verdicts")]
        links += [(f"training{index}", "Training") for index, section in enumerate(training) if section][:1]
        links += [("source", "Source")] if self.listing.shown else []
        links += [("picture0", "Graph"), ("sources0", "Sources")] if gradients else []
        timed = timelines_section(self.report.timelines)
        links += [("compiled", "Compiled")] if timed else []
        nav = "".join(f'<a href="#{name}">{text}</a>' for name, text in links)
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title} · gradient report</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#verdicts">To the verdicts</a>
<header class="bar"><div class="top"><span class="brand">gradtape</span>
<nav aria-label="Parts of the report">{nav}</nav>
{SEARCH}
<button id="theme" type="button" hidden>Dark</button></div></header>
<main>
{body}
{timed}
</main>
<footer><p>Sizes of gradients are root mean squares. <code>gradtape why CODE</code> explains a verdict.</p></footer>
<script>{script}</script>
</body>
</html>
"""

    # -- head

    def _head(self) -> str:
        gradients = self.report.gradients
        facts = []
        if len(gradients) == 1:
            targets = [gradients[0].places[key] for key in gradients[0].targets]
            named = ", ".join(f"<code>{escape(_called(place))}</code>" for place in targets[:3])
            facts.append(("Target", named or "a value that no gradient leads from to a source"))
        if gradients:
            sources = [(source, one) for one in gradients for source in one.sources]
            reached = sum(source.gradient is not None for source, _ in sources)
            unknown = not all(one.sized for one in gradients)
            words = _many(len(sources), "source")
            facts.append(("Sources", words if unknown else f"{count(reached)} of {words} reached"))
            facts.append(("Operations", count(sum(one.operations for one in gradients))))
            lines = sum(line.group is not None for lines in self.listing.files.values() for line in lines.values())
            facts.append(("Source lines", count(lines)))
            facts.append(("Kept for the gradient", size(sum(one.saved for one in gradients))))
        cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
        missing = "".join(
            f"<p>{escape(text)}</p>" for text in dict.fromkeys(one.missing for one in gradients if one.missing)
        )
        note = f'<div class="missing" role="note">{missing}</div>' if missing else ""
        return (
            f'<div class="head"><h1>{escape(self.report.title)}</h1><p>Gradient report</p>'
            f'<dl class="facts">{cells}</dl>{note}</div>'
        )

    # -- verdicts

    def _verdicts(self) -> str:
        heading = '<section id="verdicts" aria-labelledby="hv"><h2 id="hv">Verdicts</h2>'
        if not self.problems:
            missing = any(facts.missing for facts in self.report.gradients)
            words = "None, as far as is known." if missing else "Nothing to complain about."
            sources = [source for facts in self.report.gradients for source in facts.sources]
            if sources and all(source.gradient is not None for source in sources):
                words += (
                    f" A gradient arrived at {'the source' if len(sources) == 1 else f'all {len(sources)} sources'}."
                )
            return f'{heading}<p class="well">{words}</p></section>'
        items = "".join(self._verdict(index, problem) for index, problem in enumerate(self.problems))
        more = len(self.report.problems) - len(self.problems)
        rest = f"<p>{_many(more, 'more verdict')} not shown.</p>" if more else ""
        return f'{heading}<ol class="verdicts">{items}</ol>{rest}</section>'

    def _verdict(self, index: int, problem: Problem) -> str:
        links = []
        span = problem.main
        if span is not None:
            anchor = self.listing.anchor(span.file, span.line)
            if anchor:
                links.append(f'<a href="#{anchor}">the line, {escape(span.place)}</a>')
            links += [f'<a href="#{name}">the node in the graph</a>' for name in self._nodes_of(problem)[:1]]
        kind = "note" if _is_note(problem) else "warn"
        body = problem.to_html()  # escaped already; its heading is one level higher here
        body = body.replace('<h4 class="gradtape-title">', '<h3 class="gradtape-title">').replace("</h4>", "</h3>")
        row = f'<p class="links">{"".join(links)}</p>' if links else ""
        return f'<li class="verdict {kind}" id="v{index}">{body}{row}</li>'

    def _nodes_of(self, problem: Problem) -> list[str]:
        span = problem.main
        if span is None:
            return []
        return [
            f"c{number_}-n{group.number}"
            for number_, folded in enumerate(self.folded)
            for group in _groups_at(folded, span.file, span.line)
        ]

    # -- source

    def _source(self) -> str:
        if not self.listing.shown:
            return ""
        states = "".join(
            f'<li><i class="dot {name}"></i>{words}</li>' for name, words in STATES.items() if name != "unknown"
        )
        lengths = "".join(f"<li>{self.dimensions.chips((length,))}</li>" for length in self.dimensions.lengths)
        legend = f"<li>axes of one length share a colour:</li>{lengths}" if lengths else ""
        return (
            '<section id="source" aria-labelledby="hs"><h2 id="hs">Source</h2>'
            '<p class="lead">The shape each line results in, and the size of the gradient that arrives there, '
            "on a logarithmic scale.</p>"
            f'<ul class="legend">{states}{legend}</ul>{self.listing.html(self.dimensions)}</section>'
        )

    # -- one gradient: graph, cards, sources

    def _gradient(self, index: int) -> str:
        facts, folded = self.report.gradients[index], self.folded[index]
        codes: dict[int, list[str]] = {}
        for problem in self.problems:
            span = problem.main
            for group in [] if span is None else _groups_at(folded, span.file, span.line):
                if problem.code and problem.code not in codes.setdefault(group.number, []):
                    codes[group.number].append(problem.code)
        several = len(self.folded) > 1
        heading = "Graph" + (f" {index + 1}" if several else "")
        asked = ""
        if facts.asked is not None and facts.asked.line:
            times = f", which was run {count(facts.calls)} times; this is the last look" if facts.calls > 1 else ""
            asked = f"Asked for at {self._place(facts.asked)}{times}. "
        picture = graph(folded, self.dimensions, f"c{index}-n", codes, f"{heading}, folded by source line")
        cards = "".join(self._card(index, folded, group, codes.get(group.number, [])) for group in folded.groups)
        return (
            f'<section class="picture" id="picture{index}" aria-labelledby="hg{index}">'
            f'<h2 id="hg{index}">{heading}</h2>'
            f'<p class="lead">{asked}Data flows down, the gradient comes back up; a line is as wide as the gradient '
            "on it is large. What one source line did, however often, is one node.</p>"
            '<ul class="legend"><li>rounded: a leaf</li><li>fan: an operand that is stretched, and the sum that undoes '
            "it</li><li>dashed with two strokes: cut</li><li>dotted: zero, or steers only</li></ul>"
            f'<div class="stage"><div class="frame">'
            f'<div class="zoom" role="group" aria-label="Zoom" hidden>{ZOOM}</div>'
            f'<div class="canvas" tabindex="0" role="region" aria-label="{heading}, scrolls; plus and minus zoom">'
            f'{picture}</div></div><div class="cards" role="group" aria-label="Cards of the nodes">{cards}</div></div>'
            "</section>"
            f"{self._sources(index, facts, folded)}"
        )

    def _place(self, location: Location) -> str:
        anchor = self.listing.anchor(location.file, location.line)
        text = f"<code>{escape(str(location))}</code>"
        return f'<a href="#{anchor}">{text}</a>' if anchor else text

    def _card(self, index: int, folded: FoldedGraph, group: Group, codes: Sequence[str]) -> str:
        result = group.result
        rows: list[tuple[str, str]] = []
        if group.shape is not None:
            shapes = "".join(f"{self.dimensions.chips(shape)} " for shape in list(result.shapes)[:4])
            rows += [("Shape", shapes), ("dtype", f"<code>{escape(result.dtype)}</code>")]
            rows.append(("Saved", f'<span class="number">{size(group.saved)}</span>'))
            rows.append(("Values", _spread(result.values, "not kept: no rule needs them")))
        if group.gradient is not None:
            rows.append(("Gradient", _spread(group.gradient, "none")))
        elif group.shape is not None:
            unknown = not group.is_known
            rows.append(("Gradient", "not known" if unknown else "none arrives here"))
        if group.gain is not None:
            rows.append(
                ("Gain", f'<span class="number">&times; {number(group.gain)}</span> going back through this line')
            )
        cells = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
        remarks = [
            f"{self.dimensions.chips(small)} is stretched to {self.dimensions.chips(large)}: on the way back its "
            f"gradient is summed over axis {stretch(small, large)[0]}."
            for small, large in group.stretches
        ]
        remarks += [
            f"{'The value left the tape here' if place.kind == 'left' else 'The tape was left here'}: "
            f"<code>{escape(place.name)}</code>. No gradient comes back from it."
            for place in group.places
            if place.kind in ("cut", "left")
        ][:3]
        if group.birth:
            way = "forward" if group.birth == "forward" else "on the way back"
            remarks.append(f"Finite numbers became NaN or infinite here, {way}.")
        if group.carried is not None:
            passed = group.carried.size
            remarks.append(
                "A loop, or a model of several layers: its result goes into its next step "
                f"(gradient {number(passed)} there)."
            )
        verdicts = "".join(
            f'<a class="badge code" href="#v{number_}">{escape(problem.code)}</a>'
            for number_, problem in enumerate(self.problems)
            if problem.code in codes and f"c{index}-n{group.number}" in self._nodes_of(problem)
        )
        where = escape(group.where)
        anchor = self.listing.anchor(group.file, group.line)
        place_ = f'<a href="#{anchor}">{where}</a>' if anchor else where
        times = f'<span class="badge">&times; {count(group.count)}</span>' if group.count > 1 else ""
        spark = sparkline(result.sizes, result.arrived) if result.arrived > 2 else ""
        text = "".join(f'<p class="remark">{remark}</p>' for remark in remarks)
        return (
            f'<article class="card {group.state}" id="c{index}-n{group.number}" tabindex="-1">'
            f'<h4><code>{escape(group.label)}</code></h4><p class="sub">{place_}'
            f'<span class="state">{STATES[group.state]}</span>{times}{verdicts}</p><dl>{cells}</dl>{text}{spark}'
            f"{self._operations(group)}{self._parameters(group)}</article>"
        )

    def _operations(self, group: Group) -> str:
        """The operations of the line, unfolded."""
        inside = [place for place in group.places if place.kind == "operation"]
        if not inside:
            return ""
        shown = inside[:OPERATIONS_LISTED]
        rows = "".join(
            f'<tr><th scope="row"><code>{escape(_expression(place))}</code></th><td>{escape(place.name)}</td>'
            f"<td>{self.dimensions.chips(place.shape)}</td>"
            f'<td class="number">{count(place.count)}</td><td class="number">{_size_of(place)}</td>'
            f'<td class="number">{"" if place.gain is None else number(place.gain)}</td></tr>'
            for place in shown
        )
        head = "".join(
            f'<th scope="col">{name}</th>' for name in ("expression", "operation", "shape", "times", "gradient", "gain")
        )
        more = f"<p>and {count(len(inside) - len(shown))} more</p>" if len(inside) > len(shown) else ""
        words = _many(len(inside), "operation") + " in this " + ("function" if group.kind == "function" else "line")
        return (
            f'<details><summary>{words}</summary><div class="ops"><table class="sortable">'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}</div></details>"
        )

    def _parameters(self, group: Group) -> str:
        """The leaves of a group of several, unfolded."""
        if group.kind != "leaf" or len(group.places) < 2:
            return ""
        shown = group.places[:OPERATIONS_LISTED]
        rows = "".join(
            f'<tr><th scope="row"><code>{escape(place.name)}</code></th><td>{self.dimensions.chips(place.shape)}</td>'
            f'<td class="number">{_size_of(place)}</td></tr>'
            for place in shown
        )
        head = "".join(f'<th scope="col">{name}</th>' for name in ("name", "shape", "gradient"))
        more = f"<p>and {count(len(group.places) - len(shown))} more</p>" if len(group.places) > len(shown) else ""
        return (
            f'<details open><summary>{count(len(group.places))} leaves</summary><div class="ops">'
            f'<table class="sortable"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}</div></details>'
        )

    def _sources(self, index: int, facts: Facts, folded: FoldedGraph) -> str:
        group_of = {place.key: group.number for group in folded.groups for place in group.places}
        rows = []
        for source in facts.sources[:SOURCES_LISTED]:
            gradient = source.gradient
            shape = "None" if source.gradient_shape is None else self.dimensions.chips(source.gradient_shape)
            norm = rms = ""
            state = "constant" if gradient is None else ("zero" if gradient.norm == 0 else "flows")
            if gradient is not None:
                norm = "NaN" if gradient.bad else number(gradient.norm)
                rms = "NaN" if gradient.bad else number(gradient.rms)
            if gradient is None and not facts.sized and source.reason is None:
                shape = "not known"
            reason = ""
            if source.reason is not None:
                numbers = [i for i, problem in enumerate(self.problems) if _same(problem, source.reason)]
                text = escape(source.reason.title)
                reason = f'<a href="#v{numbers[0]}">{text}</a>' if numbers else text
            elif gradient is not None and gradient.bad:
                reason = "some of it is NaN or infinite"
            node = group_of.get(source.key)
            name = f"<code>{escape(source.name)}</code>"
            name = name if node is None else f'<a href="#c{index}-n{node}">{name}</a>'
            rows.append(
                f'<tr class="{state}"><th scope="row">{name}</th><td>{self.dimensions.chips(source.shape)}</td>'
                f"<td><code>{escape(source.dtype)}</code></td><td>{shape}</td>"
                f'<td class="number">{norm}</td><td class="number">{rms}</td><td>{self._place(source.location)}</td>'
                f'<td class="why">{reason}</td></tr>'
            )
        heads = ("source", "shape", "dtype", "gradient", "norm", "rms", "from", "reason")
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        more = len(facts.sources) - SOURCES_LISTED
        rest = f"<p>{_many(more, 'more source')} not shown.</p>" if more > 0 else ""
        number_ = f" {index + 1}" if len(self.folded) > 1 else ""
        return (
            f'<section id="sources{index}" aria-labelledby="ht{index}"><h2 id="ht{index}">Sources{number_}</h2>'
            f'<p class="lead">What the gradient was asked for, and what arrived.</p><div class="tablebox" tabindex="0" '
            f'role="region" aria-label="Sources, scrolls"><table class="sources sortable" '
            f'data-kind="source"><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>{rest}</section>"
        )


def _groups_at(folded: FoldedGraph, file: str, line: int) -> list[Group]:
    """The groups of a line; the group of its function if lines were folded by function."""
    return folded.at(file, line) or [
        group
        for group in folded.groups
        if any((place.location.file, place.location.line) == (file, line) for place in group.places)
    ]


def _same(one: Problem, other: Problem) -> bool:
    return (one.place, one.title) == (other.place, other.title)


def _called(place: ExpressionGroup) -> str:
    from gradtape.explain.report.names import name_of

    return place.name if place.kind == "leaf" else name_of(place.location)


def _expression(place: ExpressionGroup) -> str:
    text = " ".join(place.location.segment.split())
    return text if len(text) <= 60 else text[:59] + "…"


def _size_of(place: ExpressionGroup) -> str:
    if place.gradient is None:
        return "none"
    return number(math.nan if place.gradient.bad else place.gradient.rms)


def _spread(spread: Spread | None, otherwise: str) -> str:
    if spread is None:
        return otherwise
    if not spread.count:
        return f"all {count(spread.bad)} are NaN or infinite"
    cells = [("min", spread.low), ("mean", spread.mean), ("max", spread.high), ("rms", spread.rms)]
    shown = "".join(f'<span><small>{name}</small><b class="number">{number(value)}</b></span>' for name, value in cells)
    bad = f"<br>{count(spread.bad)} more are NaN or infinite" if spread.bad else ""
    return f'<span class="spread">{shown}</span>{bad}'

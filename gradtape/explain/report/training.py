"""The view over training steps: the loss, and for each layer the gradient and how far a step moves its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from gradtape.charts import line_chart, spark
from gradtape.explain.report.numbers import count, number
from gradtape.explain.report.steps import Step, Steps, layer_of

LAYERS_LISTED = 100
UNITS_LISTED = 40


def training_section(index: int, steps: Steps | None, several: bool) -> str:
    """The section of the gradient with this index; empty if fewer than two steps are known."""
    if steps is None or len(steps.kept) < 2:
        return ""
    heading = "Training" + (f" {index + 1}" if several else "")
    shown = [(step.number, step.loss) for step in steps.kept]
    charts = "".join(
        f'<div class="{kind}">{line_chart({"loss": shown}, title="Loss", x="step", y="loss", width=width)}</div>'
        for kind, width in (("wide", 1080), ("narrow", 380))
    )
    thinned = f", every {count(steps.stride)}th" if steps.stride > 1 else ""
    return (
        f'<section class="training" id="training{index}" aria-labelledby="hl{index}"><h2 id="hl{index}">{heading}</h2>'
        f'<p class="lead">{count(steps.kept[-1].number)} steps were seen{thinned}. An update is the length of a step '
        "of the parameters, relative to their own length; about 0.001 is usual. Curves are on logarithmic scales, each "
        "column on one, from the first step to the last.</p>"
        f'<div class="charts">{charts}</div>{_layers(steps)}{_units(steps.kept)}</section>'
    )


def _layers(steps: Steps) -> str:
    """A row for each layer: the norm of its gradient, and its updates."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(steps.names):
        positions.setdefault(layer_of(name), []).append(position)
    shown = dict(list(positions.items())[:LAYERS_LISTED])
    gradients = {layer: _over(steps.kept, at, lambda step: step.gradients, _norm) for layer, at in shown.items()}
    updates = {layer: _over(steps.kept, at, lambda step: step.updates, _mean) for layer, at in shown.items()}
    columns = [
        (name, values)
        for name, values in (("gradient", gradients), ("update", updates))
        if any(value is not None for row in values.values() for value in row)
    ]
    if not columns:
        return ""
    head = '<th scope="col">layer</th><th scope="col">parameters</th>'
    bounds = {}
    for name, values in columns:
        head += f'<th scope="col">{name}, first</th><th scope="col">last</th><th scope="col">over the steps</th>'
        known = [value for row in values.values() for value in row if value and math.isfinite(value)]
        high = max(known, default=1.0)
        bounds[name] = max(min(known, default=1.0), high * 1e-8), high
    rows = []
    for layer, at in shown.items():
        cells = f'<th scope="row"><code>{escape(layer)}</code></th><td class="number">{len(at)}</td>'
        for name, values in columns:
            known = [value for value in values[layer] if value is not None]
            ends = [number(value) for value in (known[0], known[-1])] if known else ["none", "none"]
            growth = known[-1] / known[0] if known and known[0] else 0.0
            cells += "".join(f'<td class="number">{text}</td>' for text in ends)
            cells += f'<td data-value="{growth:.6g}">{spark(values[layer], *bounds[name])}</td>'
        rows.append(f"<tr>{cells}</tr>")
    more = len(positions) - len(shown)
    return _table("layer", "Layers", head, rows) + (f"<p>{count(more)} more layers not shown.</p>" if more else "")


def _units(steps: Sequence[Step]) -> str:
    """A row for each line with rectifiers: the share of units that are zero for all examples."""
    looked = [step for step in steps if step.dead]
    lines = list(dict.fromkeys(line for step in looked for line in step.dead))[:UNITS_LISTED]
    if not lines:
        return ""
    rows = []
    for line in lines:
        found = [step.dead[line] for step in looked if line in step.dead]
        shares = [dead / units for dead, units in found]
        rows.append(
            f'<tr><th scope="row"><code>{escape(line)}</code></th><td class="number">{count(found[-1][1])}</td>'
            f'<td class="number">{shares[0]:.1%}</td><td class="number">{shares[-1]:.1%}</td></tr>'
        )
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("relu at", "units", "dead at first", "dead at the last look")
    )
    return (
        '<p class="lead">Units of rectifiers that are zero for every example of a batch; looked at in steps '
        f"{', '.join(count(step.number) for step in looked)}.</p>" + _table("line", "Dead units", head, rows)
    )


def _table(kind: str, name: str, head: str, rows: Sequence[str]) -> str:
    return (
        f'<div class="tablebox" tabindex="0" role="region" aria-label="{name}, scrolls">'
        f'<table class="sources layers sortable" data-kind="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _over(
    steps: Sequence[Step],
    positions: Sequence[int],
    part: Callable[[Step], dict[int, float]],
    together: Callable[[list[float]], float],
) -> list[float | None]:
    """For each step the number of a layer, from those of its parameters; None where there are none."""
    found: list[float | None] = []
    for step in steps:
        known = [part(step)[at] for at in positions if at in part(step)]
        found.append(together(known) if known else None)
    return found


def _norm(values: list[float]) -> float:
    return math.sqrt(sum(value * value for value in values))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)

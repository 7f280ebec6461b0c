"""How tensors show themselves in a notebook: what they are, in a line, and a small table of their values.

Colours are the notebook's own, so that it looks right on a light and on a dark page. Names are escaped.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from gradtape.extend import Lifted, Tensor, Variable, concrete, is_tracked

EDGE = 3
"""How many rows and columns are shown at each end of a long axis."""

_CELL = "padding:0.1em 0.6em;text-align:right;border:1px solid color-mix(in srgb,currentColor 25%,transparent)"
_LINE = "opacity:0.75;font-size:90%"


def tensor_html(x: Tensor) -> str:
    """`x` as a piece of HTML.

    >>> import gradtape as gt
    >>> "shape (2,)" in gt.tensor([1.0, 2.0])._repr_html_()
    True
    """
    name = x.name if isinstance(x, Variable) else None
    facts = [
        f"<b>{type(x).__name__}</b>" + (f" {escape(str(name))}" if name else ""),
        f"shape {escape(str(x.shape))}",
        escape(str(x.dtype)),
        _place(x),
    ]
    table = "" if isinstance(x, Lifted) else _table(np.asarray(concrete(x)))
    return f'<div><div style="{_LINE}">{" · ".join(facts)}</div>{table}</div>'


def _place(x: Tensor) -> str:
    if isinstance(x, Lifted):
        return "inside vmap or jit: no single value"
    if is_tracked(x):
        return "tracked, requires_grad" if x.requires_grad else "tracked"
    if isinstance(x, Variable):
        return "tapes watch it" if x.trainable else "not trainable"
    return "not tracked"


def _table(array: Any) -> str:
    """The values: a row for a vector, the first matrix of anything with more axes."""
    if not array.size:
        return f'<div style="{_LINE}">no elements</div>'
    shown = array
    while shown.ndim > 2:
        shown = shown[0]
    rows = shown.reshape((1, -1)) if shown.ndim < 2 else shown
    text = "".join(
        f"<tr>{''.join(_cell(rows, i, j) for j in _shown(rows.shape[1]))}</tr>" for i in _shown(rows.shape[0])
    )
    table = f'<table style="border-collapse:collapse;font-family:monospace"><tbody>{text}</tbody></table>'
    if array.ndim <= 2:
        return table
    first = ", ".join(["0"] * (array.ndim - 2))
    return f'<div style="{_LINE}">at [{first}]:</div>{table}'


def _shown(length: int) -> list[int | None]:
    """The places of an axis that are shown; None stands for those that are left out."""
    if length <= 2 * EDGE + 1:
        return list(range(length))
    return [*range(EDGE), None, *range(length - EDGE, length)]


def _cell(rows: Any, i: int | None, j: int | None) -> str:
    text = "…" if i is None or j is None else np.array2string(rows[i, j], precision=5)
    return f'<td style="{_CELL}">{escape(text)}</td>'

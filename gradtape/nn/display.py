"""How a module shows itself in a notebook: a table of its parameters and buffers, by path."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradtape.nn.module import Module

ROWS_SHOWN = 60


def module_html(module: Module) -> str:
    """A module as a piece of HTML: its class, the numbers that are trained, and a row for each parameter and buffer.

    >>> import numpy as np, gradtape as gt
    >>> text = module_html(gt.nn.Dense(3, 2, rng=np.random.default_rng(0)))
    >>> "8 numbers in 2 parameters" in text, "weight" in text
    (True, True)
    """
    kinds = {path: type(part).__name__ for path, part in module.named_modules()}
    rows: list[tuple[str, str, str, str, int, str]] = []
    for path, _, _, value in module._variables():
        owner = kinds.get(_owner(path, kinds), "")
        what = "parameter" if value.trainable else "buffer"
        rows.append((path, owner, str(value.shape), str(value.dtype), math.prod(value.shape), what))
    for prefix, part in module.named_modules():
        for name, declared in part._declared.items():
            if name not in vars(part):
                path = f"{prefix}.{name}" if prefix else name
                size = math.prod(declared.shape)
                rows.append((path, kinds[prefix], str(declared.shape), str(declared.dtype), size, "no numbers yet"))
    parameters = [row for row in rows if row[-1] != "buffer"]
    total = sum(row[4] for row in parameters)
    cell = "padding:0.15em 0.8em;text-align:left"
    heads = "".join(f'<th style="{cell}">{name}</th>' for name in ("path", "layer", "shape", "dtype", "numbers", ""))
    body = "".join(
        "<tr>" + "".join(f'<td style="{cell}">{escape(_told(part))}</td>' for part in row) + "</tr>"
        for row in rows[:ROWS_SHOWN]
    )
    more = f"<div>and {len(rows) - ROWS_SHOWN} more</div>" if len(rows) > ROWS_SHOWN else ""
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    text = escape(repr(module))
    return (
        f"<div><b>{escape(type(module).__name__)}</b>: {total:,} numbers in {len(parameters)} "
        f"parameter{'s' * (len(parameters) != 1)}{table}{more}"
        f"<details><summary>layers</summary><pre>{text}</pre></details></div>"
    )


def _owner(path: str, kinds: dict[str, str]) -> str:
    """The path of the innermost module that holds a variable."""
    while path and path not in kinds:
        path = path.rpartition(".")[0]
    return path


def _told(part: str | int) -> str:
    return f"{part:,}" if isinstance(part, int) else part

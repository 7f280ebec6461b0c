"""History: what a training run reported, epoch by epoch, which can show itself."""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.charts import COLOURS, line_chart

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: list[float], width: int = 40) -> str:
    """Numbers as a row of bars; the mean of neighbours where there are more than `width`.

    >>> sparkline([3.0, 2.0, 1.0, 1.0])
    '█▄▁▁'
    """
    array = np.asarray(values, float)
    if array.size > width:
        array = np.array([part.mean() for part in np.array_split(array, width)])
    finite = array[np.isfinite(array)]
    if not finite.size:
        return "?" * array.size
    low, high = finite.min(), finite.max()
    span = (high - low) or 1.0
    return "".join(BARS[int((x - low) / span * 7)] if math.isfinite(x) else "?" for x in array)


class History:
    """The numbers of each epoch by name, the trained parameters, and how training ended.

    `stopped` is "finished", "early" or "interrupted"; `best_epoch` counts from 0, and is None if nothing was watched.

    >>> from gradtape.training.history import History
    >>> History({"loss": [3.0, 2.0, 1.0]}, None, "finished")
    History of 3 epochs, finished
      loss  █▄▁  3 -> 1
    """

    def __init__(
        self, records: dict[str, list[float]], params: Any, stopped: str, best_epoch: int | None = None
    ) -> None:
        self.records = records
        self.params = params
        self.stopped = stopped
        self.best_epoch = best_epoch

    def __getitem__(self, name: str) -> list[float]:
        if name not in self.records:
            raise KeyError(f"{name!r}; there are {', '.join(map(repr, self.records)) or 'none'}")
        return self.records[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.records)

    def __len__(self) -> int:
        """The number of epochs."""
        return max((len(values) for values in self.records.values()), default=0)

    def __repr__(self) -> str:
        width = max(map(len, self.records), default=0)
        lines = [f"History of {len(self)} epoch{'s' * (len(self) != 1)}, {self.stopped}"]
        if self.best_epoch is not None:
            lines[0] += f", best epoch {self.best_epoch}"
        for name, values in self.records.items():
            if values:
                lines.append(f"  {name:{width}}  {sparkline(values)}  {values[0]:.4g} -> {values[-1]:.4g}")
        return "\n".join(lines)

    def plot(self, axes: Any = None) -> Any:
        """Draw all curves with matplotlib, into `axes` if given, and return the axes; print them where it is missing.

        `history.plot().figure.savefig("loss.png")` keeps the picture.
        """
        if axes is None:
            try:
                from matplotlib.figure import Figure
            except ImportError:
                print(self)
                return None
            pyplot = sys.modules.get("matplotlib.pyplot")  # a window or a cell only where the user has opened one
            axes = (pyplot.figure() if pyplot else Figure()).add_subplot()
        for name, values in self.records.items():
            axes.plot(range(1, len(values) + 1), values, label=name.replace("_", " "))
        if self.best_epoch is not None:
            axes.axvline(self.best_epoch + 1, color="grey", linestyle=":", label="best")
        axes.set_title(repr(self).splitlines()[0])
        axes.set_xlabel("epoch")
        axes.set_ylabel(next(iter(self.records)).replace("_", " ") if len(self.records) == 1 else "value")
        if self.records:
            axes.legend()
        return axes

    def _repr_html_(self) -> str:
        """The curves as a chart with axes, and a table of the first, the best and the last numbers."""
        curves = {name: list(enumerate(values, 1)) for name, values in self.records.items() if values}
        title = repr(self).splitlines()[0]
        marked = None if self.best_epoch is None else ("best", self.best_epoch + 1)
        y = next(iter(curves)).replace("_", " ") if len(curves) == 1 else "value"
        chart = line_chart(curves, title=title, x="epoch", y=y, marked=marked)
        cell = 'style="padding:0.15em 0.8em;text-align:right"'
        rows = []
        for index, (name, points) in enumerate(curves.items()):
            values = [value for _, value in points]
            numbers = (values[0], min(values, key=_finite_first), max(values, key=_finite_last), values[-1])
            cells = "".join(f"<td {cell}>{value:.4g}</td>" for value in numbers)
            mark = f'<span style="color:{COLOURS[index % len(COLOURS)]}">&#9632;</span>'
            rows.append(f'<tr><th style="text-align:left">{mark} {html.escape(name)}</th>{cells}</tr>')
        heads = "".join(f"<th {cell}>{name}</th>" for name in ("", "first", "lowest", "highest", "last"))
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>" if rows else ""
        return f"<div>{chart or html.escape(title)}{table}</div>"


def _finite_first(value: float) -> float:
    return value if math.isfinite(value) else math.inf


def _finite_last(value: float) -> float:
    return value if math.isfinite(value) else -math.inf

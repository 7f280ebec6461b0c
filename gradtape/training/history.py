"""History: what a training run reported, epoch by epoch, which can show itself."""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

BARS = "▁▂▃▄▅▆▇█"
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")


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
        axes.set_xlabel("epoch")
        if self.records:
            axes.legend()
        return axes

    def _repr_html_(self) -> str:
        """The curves as a drawing, and the first and last numbers."""
        rows = "".join(
            f'<tr><td style="color:{colour}">&#9632;</td><td>{html.escape(name)}</td>'
            f"<td>{values[0]:.4g} &rarr; {values[-1]:.4g}</td></tr>"
            for (name, values), colour in zip(self.records.items(), COLOURS * 9)
            if values
        )
        title = html.escape(repr(self).splitlines()[0])
        return f"<div><b>{title}</b>{self._drawing()}<table>{rows}</table></div>"

    def _drawing(self, width: int = 480, height: int = 160) -> str:
        every = np.array([x for values in self.records.values() for x in values if math.isfinite(x)])
        if not every.size:
            return ""
        low, span = every.min(), (every.max() - every.min()) or 1.0
        lines = []
        for values, colour in zip(self.records.values(), COLOURS * 9):
            step = (width - 8) / max(len(values) - 1, 1)
            points = " ".join(
                f"{4 + step * i:.1f},{height - 4 - (x - low) / span * (height - 8):.1f}"
                for i, x in enumerate(values)
                if math.isfinite(x)
            )
            lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>')
        frame = f'<rect width="{width}" height="{height}" fill="none" stroke="#ccc"/>'
        drawing = "".join(lines)
        return f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}">{frame}{drawing}</svg>'

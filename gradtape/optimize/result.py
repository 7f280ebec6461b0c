"""What solvers return: SciPy's result, with x in the structure that the user gave, printed for people."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from scipy import optimize

from gradtape.extend import Lifted, leaf_paths, leaves, numbers_if_known

KEY_NUMBERS = ("fun", "cost", "optimality", "constr_violation")
NUMBERS_SHOWN = 12  # larger arrays are described


class OptimizeResult(optimize.OptimizeResult):  # type: ignore[misc]  # SciPy has no types
    """SciPy's result: a dictionary with attributes. `x` has the structure of the start; printing it is readable.

    >>> import numpy as np, gradtape as gt
    >>> found = gt.optimize.minimize(lambda p: (p["a"] - 1.0) ** 2 + p["b"] ** 2, {"a": 3.0, "b": 0.5})
    >>> found.success, sorted(found.x)
    (True, ['a', 'b'])
    """

    def __repr__(self) -> str:
        success = numbers_if_known(self.get("success", True))
        head = "found" if success is None or success.all() else "not found"
        lines = [f"{head}: {str(self.get('message', '')).strip() or 'no message'}"]
        if counts := self._counts():
            lines.append(f"  {counts}")
        for key in KEY_NUMBERS:
            if key in self:
                one = np.size(self[key]) == 1 and not isinstance(self[key], Lifted)
                told_as = f"{float(numbers_if_known(self[key]).reshape(())):.8g}" if one else describe_array(self[key])
                lines.append(f"  {key:6} {told_as}")
        for key in ("x", "errors"):
            if key in self:
                lines += [
                    f"  {name}  {describe_array(leaf)}"
                    for name, leaf in zip(leaf_paths(self[key], key), leaves(self[key]))
                ]
        return "\n".join(lines)

    __str__ = __repr__

    def _counts(self) -> str:
        """The method and how often what was called, in words."""
        counts = {"nit": "iterations", "nfev": "evaluations", "njev": "derivatives", "nhev": "second derivatives"}
        told = [f"{self[key]} {word}" for key, word in counts.items() if isinstance(self.get(key), int | np.integer)]
        return ", ".join(told if self.get("method") is None else [f"method {self['method']}", *told])

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks; unknowns have a row each, and large ones their range."""
        head, counts = repr(self).splitlines()[0], self._counts()
        rows = [(key, "", describe_array(self[key])) for key in KEY_NUMBERS if key in self]
        rows += [
            (name, str(tuple(np.shape(leaf))), describe_array(leaf))
            for key in ("x", "errors")
            if key in self
            for name, leaf in zip(leaf_paths(self[key], key), leaves(self[key]))
        ]
        cell = "padding:0.15em 0.8em;text-align:left"
        text = "".join(
            f'<tr><th style="{cell}">{escape(name)}</th><td style="{cell}">{escape(shape)}</td>'
            f'<td style="{cell}"><code>{escape(value)}</code></td></tr>'
            for name, shape, value in rows
        )
        summary = f'<div style="opacity:0.75">{escape(counts)}</div>' if counts else ""
        return f"<div><b>{escape(head)}</b>{summary}<table>{text}</table></div>"


def describe_array(value: Any) -> str:
    """An array in a few words: its numbers where they are few, else its shape and range."""
    if isinstance(value, Lifted):
        return f"shape {value.shape}, in a batch or a trace"
    array = numbers_if_known(value)
    if array.size <= NUMBERS_SHOWN:
        return " ".join(np.array2string(array, precision=6, separator=", ", max_line_width=200).split())
    if array.dtype.kind not in "fiu":
        return f"shape {array.shape}, {array.dtype}"
    return f"shape {array.shape}, from {array.min():.6g} to {array.max():.6g}, mean {array.mean():.6g}"

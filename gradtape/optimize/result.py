"""What solvers return: SciPy's result, with x in the structure that the user gave, printed for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from gradtape.extend import Lifted, leaf_paths, leaves, numbers_if_known


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
        counts = {"nit": "iterations", "nfev": "evaluations", "njev": "derivatives", "nhev": "second derivatives"}
        told = [f"{self[key]} {word}" for key, word in counts.items() if isinstance(self.get(key), int | np.integer)]
        if self.get("method") is not None:
            told.insert(0, f"method {self['method']}")
        if told:
            lines.append("  " + ", ".join(told))
        for key in ("fun", "cost", "optimality", "constr_violation"):
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


def describe_array(value: Any) -> str:
    """An array in a few words: its numbers where they are few, else its shape and range."""
    if isinstance(value, Lifted):
        return f"shape {value.shape}, in a batch or a trace"
    array = numbers_if_known(value)
    if array.size <= 6:
        return np.array2string(array, precision=6, separator=", ").replace("\n", "")
    return f"shape {array.shape}, from {array.min():.6g} to {array.max():.6g}"

"""`tf.print`: values as TensorFlow's kernels write them, on the standard error stream."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gradtape.extend import concrete
from gradtape_standins.tensorflow.conversion import Holder
from gradtape_standins.tensorflow.execution_context import note_effect


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Write the inputs with their values, each time it is reached; on `sys.stderr` unless told otherwise."""
    note_effect("tf.print")
    text = sep.join(written(x, summarize) for x in inputs) + end
    if isinstance(output_stream, str) and output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a") as file:
            file.write(text)
        return
    stream = sys.stderr if output_stream is None else output_stream
    stream.write(text)


def written(x: Any, summarize: int, quoted: bool = False) -> str:
    """`x` as `tf.print` writes it."""
    if isinstance(x, Holder):
        return _array(np.asarray(concrete(x._value)), summarize)
    if isinstance(x, np.ndarray | np.generic):
        return _array(np.asarray(x), summarize)
    if isinstance(x, dict):
        return "{" + ", ".join(f"{key!r}: {written(x[key], summarize, True)}" for key in x) + "}"
    if isinstance(x, list | tuple):
        inner = ", ".join(written(part, summarize, True) for part in x)
        return f"[{inner}]" if isinstance(x, list) else f"({inner}{',' if len(x) == 1 else ''})"
    return repr(x) if quoted and isinstance(x, str) else str(x)


def _array(array: Any, summarize: int) -> str:
    if array.ndim == 0:
        return _number(array[()])
    rows = [_array(row, summarize) for row in _shown(array, summarize)]
    if summarize >= 0 and len(array) > 2 * summarize:
        rows.insert(summarize, "...")
    if array.ndim == 1:
        return "[" + " ".join(rows) + "]"
    return "[" + "\n ".join(row.replace("\n", "\n ") for row in rows) + "]"


def _shown(array: Any, summarize: int) -> Any:
    if summarize < 0 or len(array) <= 2 * summarize:
        return array
    return [*array[:summarize], *array[len(array) - summarize :]]


def _number(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.bool_):
        return "1" if value else "0"
    if isinstance(value, np.complexfloating):
        return f"({_number(value.real)},{_number(value.imag)})"
    if isinstance(value, np.floating):
        digits = 15 if value.dtype == np.float64 else 6
        short = f"{value:.{digits}g}"
        return (
            short
            if type(value)(float(short)) == value or np.isnan(value)
            else f"{value:.{digits + 3 - (digits == 15)}g}"
        )
    return str(value)

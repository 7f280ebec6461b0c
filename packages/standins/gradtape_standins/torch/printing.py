"""How tensors print: four digits, columns aligned, large tensors summarised, as PyTorch does it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape_standins.torch import dtypes

Formatter = Callable[[Any], str]

_AT_FIRST: dict[str, Any] = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES: dict[str, dict[str, Any]] = {
    "default": {},
    "short": {"precision": 2, "edgeitems": 2},
    "full": {"threshold": math.inf},
}
_options = dict(_AT_FIRST)


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors print."""
    if profile is not None:
        _options.update({**_AT_FIRST, **_PROFILES[profile]})
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print options for the length of a `with` block."""
    before = dict(_options)
    set_printoptions(**options)
    try:
        yield
    finally:
        _options.update(before)


def _formatter(numbers: Any) -> tuple[Formatter, int]:
    """How to write each of `numbers` in columns, and how wide the columns are."""
    precision = _options["precision"]
    write: Formatter = str
    measured = numbers.ravel().tolist()
    if numbers.dtype.kind == "f":
        finite = numbers[np.isfinite(numbers) & (numbers != 0)].astype(np.float64)
        measured = finite.tolist()
        whole = bool(np.all(finite == np.ceil(finite)))
        scientific = _options["sci_mode"]
        if scientific is None:
            sizes = np.abs(finite)
            scientific = bool(
                sizes.size and (sizes.max() > 1000 * sizes.min() or sizes.max() > 1e8 or sizes.min() < 1e-4)
            )
        if scientific and measured:
            write = lambda number: f"{number:.{precision}e}"
        elif whole:
            write = lambda number: f"{number:.0f}." if math.isfinite(number) else f"{number:.0f}"
        else:
            write = lambda number: f"{number:.{precision}f}"
    width = max([1, *(len(write(number)) for number in measured)])
    return lambda number: write(number).rjust(width), width


def _edges(array: Any) -> Any:
    """What is left of an array that is summarised: the first and last few along every axis."""
    edge = _options["edgeitems"]
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            kept = [*range(edge), *range(length - edge, length)]
            array = np.take(array, kept, axis)
    return array


def _numbers(array: Any, indent: int) -> str:
    """The numbers of an array in nested brackets."""
    if array.size == 0:
        return "[]"
    summarised = array.size > _options["threshold"]
    shown = _edges(array) if summarised else array
    if array.dtype.kind == "c":
        (real, real_width), (imaginary, imaginary_width) = _formatter(shown.real), _formatter(shown.imag)

        def write(number: Any) -> str:
            second = imaginary(number.imag).lstrip() + "j"
            return real(number.real) + (second if second[0] in "+-" else "+" + second)

        return _nested(array, indent, summarised, write, real_width + imaginary_width + 1)
    return _nested(array, indent, summarised, *_formatter(shown))


def _nested(array: Any, indent: int, summarised: bool, write: Formatter, width: int) -> str:
    edge = _options["edgeitems"]
    if array.ndim == 0:
        return str(write(array.item()))
    short = summarised and len(array) > 2 * edge
    if array.ndim == 1:
        first, last = (array[:edge], array[-edge:]) if short else (array, array[:0])
        words = [write(x) for x in first.tolist()] + [" ..."] * short + [write(x) for x in last.tolist()]
        a_line = max(1, (_options["linewidth"] - indent) // (width + 2))
        lines = [", ".join(words[start : start + a_line]) for start in range(0, len(words), a_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    rows = [*range(edge), None, *range(len(array) - edge, len(array))] if short else list(range(len(array)))
    parts = ["..." if row is None else _nested(array[row], indent + 1, summarised, write, width) for row in rows]
    rank: int = array.ndim
    return "[" + ("," + "\n" * (rank - 1) + " " * (indent + 1)).join(parts) + "]"


def text_of(array: Any, ending: str, name: str = "tensor") -> str:
    """`tensor(...)` with what follows the numbers: size, dtype, and `ending`."""
    prefix = f"{name}("
    indent = len(prefix)
    text = prefix + _numbers(array, indent)
    endings = [ending] if ending else []
    usual = array.dtype in (np.int64, np.bool_, dtypes.default()) or array.dtype == dtypes.default_complex()
    if not usual or (array.size == 0 and array.dtype != dtypes.default()):
        endings.insert(0, f"dtype={dtypes.of(array.dtype)!r}")
    if array.size == 0 and array.ndim != 1:
        endings.insert(0, f"size={tuple(array.shape)!r}")
    length = len(text) - text.rfind("\n") + 1
    for part in endings:
        if length + len(part) + 2 > _options["linewidth"]:
            text += ",\n" + " " * indent + part
            length = indent + len(part)
        else:
            text += ", " + part
            length += len(part) + 2
    return text + ")"

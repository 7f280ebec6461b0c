"""detect_anomaly: a NaN in a value or in a gradient is an error at the line where it was made."""

from __future__ import annotations

from typing import Any

import gradtape as gt


class set_detect_anomaly:
    """Switch the search for NaNs on or off, at once; as a context manager, until the end of the block.

    >>> from gradtape_standins import torch
    >>> x = torch.tensor(-1.0, requires_grad=True)
    >>> try:
    ...     with torch.autograd.set_detect_anomaly(True):
    ...         torch.sqrt(x).backward()
    ... except RuntimeError as error:
    ...     print(type(error).__name__)
    RuntimeError
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _switched(bool(mode), check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *details: Any) -> None:
        _switched(*self._before)


_now = (False, True)
_watches: list[Any] = []


def _switched(mode: bool, check_nan: bool) -> tuple[bool, bool]:
    """Switch the search on or off; how it was before."""
    global _now
    before, _now = _now, (mode, check_nan)
    while _watches:
        _watches.pop().__exit__(None, None, None)
    if mode and check_nan:
        _watches.append(gt.check_numerics())
        _watches[-1].__enter__()
    return before


def is_anomaly_enabled() -> bool:
    """Whether the search for NaNs is on."""
    return _now[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether a NaN is an error while the search is on."""
    return _now[1]


class detect_anomaly:
    """Within the block, a NaN is an error that names the line where it was made."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan

    def __enter__(self) -> None:
        self._watch = set_detect_anomaly(True, self._check_nan)

    def __exit__(self, *details: Any) -> None:
        self._watch.__exit__(*details)

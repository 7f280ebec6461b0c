"""detect_anomaly: a NaN in a value or in a gradient is an error at the line where it was made."""

from __future__ import annotations

from typing import Any

import gradtape as gt


class set_detect_anomaly:
    """Switch the search for NaNs on or off, at once; as a context manager, until the end of the block.

    >>> from gradtape.standins import torch
    >>> x = torch.tensor(-1.0, requires_grad=True)
    >>> try:
    ...     with torch.autograd.set_detect_anomaly(True):
    ...         torch.sqrt(x).backward()
    ... except RuntimeError as error:
    ...     print(type(error).__name__)
    RuntimeError
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._watch: Any = gt.check_numerics() if mode and check_nan else None
        if self._watch is not None:
            self._watch.__enter__()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *details: Any) -> None:
        if self._watch is not None:
            self._watch.__exit__(*details)


class detect_anomaly:
    """Within the block, a NaN is an error that names the line where it was made."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan

    def __enter__(self) -> None:
        self._watch = set_detect_anomaly(True, self._check_nan)

    def __exit__(self, *details: Any) -> None:
        self._watch.__exit__(*details)

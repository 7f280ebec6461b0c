"""When to stop before the last epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gradtape.errors import OperandError
from gradtape.extend import argument_error


@dataclass(frozen=True)
class EarlyStopping:
    """Stop when `monitor` has not improved by more than `min_delta` for `patience` epochs.

    With `restore_best` the model then has the numbers of its best epoch.

    >>> import gradtape as gt
    >>> gt.EarlyStopping(patience=3).is_better(0.9, 1.0)
    True
    """

    patience: int = 5
    monitor: str = "validation_loss"
    min_delta: float = 0.0
    mode: str = "min"
    restore_best: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.patience, int) or self.patience < 1:
            raise argument_error(
                OperandError, f"EarlyStopping: patience={self.patience!r}.", "an integer of at least 1"
            )
        if self.mode not in ("min", "max"):
            raise argument_error(OperandError, f"EarlyStopping: mode={self.mode!r}.", '"min" or "max"')
        if not self.min_delta >= 0:
            raise argument_error(
                OperandError, f"EarlyStopping: min_delta={self.min_delta!r}.", "a number of at least 0"
            )

    def is_better(self, value: float, best: float) -> bool:
        """Whether `value` improves upon `best`. A NaN never does; anything else improves upon a NaN."""
        if math.isnan(best):
            return not math.isnan(value)
        return value < best - self.min_delta if self.mode == "min" else value > best + self.min_delta


def as_stopping(given: Any) -> EarlyStopping | None:
    """`early_stopping` as it may be given: None, a number of epochs, or an `EarlyStopping`."""
    if given is None or isinstance(given, EarlyStopping):
        return given
    if isinstance(given, int) and not isinstance(given, bool):
        return EarlyStopping(patience=given)
    raise argument_error(
        OperandError,
        f"fit: early_stopping is a {type(given).__name__}.",
        "a number of epochs, or gt.EarlyStopping(patience=5)",
    )

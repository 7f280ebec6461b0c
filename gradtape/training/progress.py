"""Progress: a bar where tqdm is installed and somebody is looking, a line an epoch where it was asked for."""

from __future__ import annotations

import sys
from typing import Any


class FitProgress:
    """What `fit` says while it runs. `wanted` is None for: only on a terminal, and only with tqdm."""

    def __init__(self, wanted: bool | None, epochs: int, total: int | None, done: int) -> None:
        self.epochs = epochs
        self._bar: Any = None
        self._plain = False
        if wanted is False or (wanted is None and not sys.stderr.isatty()):
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._plain = wanted is True
            return
        self._bar = tqdm(total=total, initial=done, unit="batch", dynamic_ncols=True)

    def batch(self, epoch: int, loss: float) -> None:
        """A batch is done."""
        if self._bar is not None:
            self._bar.set_description(f"epoch {epoch + 1}/{self.epochs}", refresh=False)
            self._bar.set_postfix(loss=f"{loss:.4g}", refresh=False)
            self._bar.update()

    def epoch(self, epoch: int, numbers: dict[str, float]) -> None:
        """An epoch is done."""
        if self._plain:
            shown = "  ".join(f"{name} {value:.4g}" for name, value in numbers.items())
            print(f"epoch {epoch + 1}/{self.epochs}  {shown}", file=sys.stderr)
        elif self._bar is not None:
            self._bar.set_postfix({name: f"{value:.4g}" for name, value in numbers.items()})

    def close(self) -> None:
        """Nothing more comes."""
        if self._bar is not None:
            self._bar.close()

"""Progress of `fit`: a bar on terminals and in notebooks; lines where it is asked for and there is no bar."""

from __future__ import annotations

import sys

from gradtape.progress import open_bar


class FitProgress:
    """What `fit` says while it runs. `wanted` is None for: on a terminal or in a notebook, after a second."""

    def __init__(self, wanted: bool | None, epochs: int, total: int | None, done: int) -> None:
        self.epochs = epochs
        self._bar = open_bar("fit", wanted, unit="batches", total=total, done=done)
        self._plain = self._bar is None and wanted is True

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

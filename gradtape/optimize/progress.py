"""Tells how far a solver is: a bar on terminals and in notebooks; lines where it was asked for and there is no bar."""

from __future__ import annotations

import sys
from types import TracebackType

from gradtape.progress import open_bar


class SolverProgress:
    """Counts iterations and shows the value. `wanted`: None on terminals only, True always, False never."""

    def __init__(self, label: str, wanted: bool | None, total: int | None = None) -> None:
        self.label = label
        self.count = 0
        self.bar = open_bar(label, wanted, unit="iterations", total=total)
        self.lines = self.bar is None and wanted is True

    def step(self, value: float | None, largest: float | None = None) -> None:
        """One more iteration is done, with this value and this largest element of the gradient."""
        self.count += 1
        told = {} if value is None else {"value": f"{value:.6g}"}
        if largest is not None:
            told["gradient"] = f"{largest:.1e}"
        if self.bar is not None:
            self.bar.set_postfix(told, refresh=False)
            self.bar.update()
        elif self.lines and (self.count & (self.count - 1)) == 0:  # 1, 2, 4, 8 ...
            print(f"{self.label}: iteration {self.count}", *(f"{k} {v}" for k, v in told.items()), file=sys.stderr)

    def __enter__(self) -> SolverProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.close()

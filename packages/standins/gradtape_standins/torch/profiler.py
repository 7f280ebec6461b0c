"""`torch.profiler`: marks in a program, which nobody reads here."""

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.autograd.profiler import __getattr__ as _autograds
from gradtape_standins.torch.autograd.profiler import record_function

__all__ = ["record_function"]
__getattr__ = missing(__name__, reasons=_autograds.reasons)  # type: ignore[attr-defined]

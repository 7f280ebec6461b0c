"""`torch.nn.modules.utils`: a number for each of several axes, as layers of others ask for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape_standins.missing_names import missing


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a tuple of `n` of one number, and leaves what is several as it is."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (_ntuple(n) for n in (1, 2, 3, 4))
__getattr__ = missing(__name__)

"""`tf.autograph`: functions here run as Python does, so there is nothing to convert; the names are there."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from gradtape_standins.missing_names import missing


def _same(func: Callable[..., Any] | None = None) -> Any:
    """The function as it is."""
    return _same if func is None else func


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Nothing: loops here are Python's own."""


def to_graph(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """The function as it is."""
    return entity


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of the function, which is what runs."""
    return textwrap.dedent(inspect.getsource(getattr(entity, "python_function", entity)))


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Nothing: there is no conversion to be told of."""


def trace(*args: Any) -> None:
    """Print what is given."""
    print(*args)


experimental = SimpleNamespace(do_not_convert=_same, set_loop_options=_nothing, Feature=SimpleNamespace(ALL="ALL"))

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
__getattr__ = missing(__name__)

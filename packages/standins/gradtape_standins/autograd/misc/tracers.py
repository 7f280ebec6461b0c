"""Functions whose operations are recorded once and then run again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.jit import jit
from gradtape_standins import missing_names
from gradtape_standins.autograd.tracer import Node, trace
from gradtape_standins.autograd.wrap_util import wraps


def const_graph_unary(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`const_graph` for a function of one argument."""
    return const_graph(fun)


def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """`fun`, with its first arguments fixed, traced when it is first called; it is `gt.jit`.

    Unlike autograd's, it notices when a Python branch would go another way, and traces again.

    >>> import numpy as np
    >>> const_graph(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    np.float64(5.0)
    """
    compiled = jit(functools.partial(fun, *args, **kwargs))

    @wraps(fun)
    def run(*arguments: Any) -> Any:
        # numbers as arrays: jit would take them for constants, and trace for each
        return compiled(*(np.asarray(x) if isinstance(x, float | complex) else x for x in arguments))

    return run


class FullGraphNode(Node):
    """A node that knows its value and its recipe: function, arguments, keywords, and pairs of number and parent."""

    __slots__ = ("recipe", "value")

    def __init__(
        self, value: Any, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], parent_argnums: Any, parents: Any
    ) -> None:
        self.value = value
        self.recipe: tuple[Any, ...] = (fun, args, kwargs, list(zip(parent_argnums, parents, strict=True)))

    def initialize_root(self) -> None:
        """Make this the node of the arguments."""
        self.value = None
        self.recipe = (lambda x: x, (), {}, [])


def full_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The node of `fun(*args, **kwargs)`, from which the whole graph can be walked.

    >>> import numpy as np
    >>> full_graph(lambda x: np.sin(x) * 2.0, 1.0).recipe[0].__name__
    'multiply'
    """
    return trace(FullGraphNode.new_root(), lambda arguments: fun(*arguments, **kwargs), args)[1]


__getattr__ = missing_names.missing(__name__)

"""Primitives: functions that run on plain arrays and have a rule of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from gradtape.extend import Tensor, tensor
from gradtape_standins import missing_names
from gradtape_standins.autograd.box_conversion import getval, isbox, settled, unboxed
from gradtape_standins.autograd.primitives import applied, is_traced, notraced
from gradtape_standins.autograd.util import subvals, toposort
from gradtape_standins.autograd.wrap_util import wraps

__all__ = [
    "Box",
    "Node",
    "getval",
    "isbox",
    "new_box",
    "notrace_primitive",
    "notrace_primitives",
    "primitive",
    "register_notrace",
    "subvals",
    "toposort",
    "trace",
    "trace_stack",
]

Function = Callable[..., Any]
Box = Tensor
notrace_primitives: defaultdict[Any, set[Any]] = defaultdict(set)


def primitive(f_raw: Function) -> Function:
    """`f_raw` as one operation: it is given plain arrays, and its derivative is what `defvjp` and `defjvp` say.

    >>> import numpy as np
    >>> from gradtape_standins.autograd import grad
    >>> from gradtape_standins.autograd.extend import defvjp, primitive
    >>> @primitive
    ... def cube(x):
    ...     return x**3
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    >>> grad(cube)(2.0)
    np.float64(12.0)
    """

    @wraps(f_raw)
    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        traced = [number for number, argument in enumerate(args) if is_traced(argument)]
        if not traced:
            return f_raw(*(unboxed(argument, settled) for argument in args), **kwargs)
        if notraced(f_wrapped, notrace_primitives):
            return f_raw(*(unboxed(argument, getval) for argument in args), **kwargs)
        return applied(f_wrapped, traced, args, kwargs)

    f_wrapped.fun = f_raw  # type: ignore[attr-defined]
    f_wrapped._is_autograd_primitive = True  # type: ignore[attr-defined]
    return f_wrapped


def notrace_primitive(f_raw: Function) -> Function:
    """`f_raw` as a function that is given plain arrays and that no gradient goes through."""

    @wraps(f_raw)
    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        return f_raw(*map(getval, args), **kwargs)

    f_wrapped._is_primitive = True  # type: ignore[attr-defined]
    return f_wrapped


def register_notrace(trace_type: Any, primitive_fun: Function) -> None:
    """Let no gradient go through a primitive."""
    notrace_primitives[trace_type].add(primitive_fun)


class Node:
    """The root of all kinds of nodes: a place in the graph of one run, made by `trace` for every operation met."""

    __slots__: tuple[str, ...] = ()

    def __init__(
        self, value: Any, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], parent_argnums: Any, parents: Any
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} needs an __init__ of these arguments")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Make this the node of the argument."""
        raise NotImplementedError(f"{type(self).__name__} needs an initialize_root")

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        """A node for the argument of a function."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


def trace(start_node: Any, fun: Function, x: Any) -> tuple[Any, Any]:
    """Run `fun(x)`; its value, and the node of it, which knows its parents back to `start_node`.

    Every operation is a node of the class of `start_node`. The node is None if the value does not depend on `x`.
    """
    from gradtape_standins.autograd.graph_from_program import traced

    return traced(start_node, fun, x)


def new_box(value: Any, trace: Any, node: Any) -> Any:
    """`value` as a tensor that everything made of it is traced back to, until `backward_pass` from the `_node` of that.

    Only for the nodes of reverse mode: it is gradtape's `requires_grad`.
    """
    from gradtape_standins.autograd.core import VJPNode

    if not isinstance(node, VJPNode):
        raise NotImplementedError(
            "the stand-in for autograd does not put values into boxes of other kinds.\n"
            "  fix: trace(start_node, fun, x) builds nodes of any class; make_vjp and make_jvp give derivatives"
        )
    return tensor(value, requires_grad=True)


class TraceStack:
    """Which traces are under way: tapes know it themselves, so there is nothing to count."""

    def new_trace(self) -> AbstractContextManager[int]:
        """A block in which a trace is under way."""
        return nullcontext(0)


trace_stack = TraceStack()

__getattr__ = missing_names.missing(__name__)

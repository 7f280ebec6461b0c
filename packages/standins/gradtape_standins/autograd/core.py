"""Reverse and forward mode of functions of one argument, and the rules of primitives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import (
    AMBIENT,
    Tensor,
    aligned,
    check_seed,
    children,
    hand_out,
    leaves,
    node_of,
    rebuild,
    record_call,
    tensor_at,
    walk,
)
from gradtape_standins import missing_names
from gradtape_standins.autograd.box_conversion import conjugate, floating, settled_structure
from gradtape_standins.autograd.boxes import tracing
from gradtape_standins.autograd.primitives import primitive_jvps, primitive_vjps
from gradtape_standins.autograd.spaces import VSpace, vspace
from gradtape_standins.autograd.tracer import Box, Node, getval, isbox, toposort, trace
from gradtape_standins.autograd.tracer import primitive as _primitive
from gradtape_standins.autograd.util import subval
from gradtape_standins.autograd.wrap_util import get_name

__all__ = [
    "Box",
    "JVPNode",
    "Node",
    "SparseObject",
    "VJPNode",
    "VSpace",
    "backward_pass",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "getval",
    "isbox",
    "make_jvp",
    "make_vjp",
    "primitive",
    "primitive_jvps",
    "primitive_vjps",
    "toposort",
    "trace",
    "vspace",
]

Function = Callable[..., Any]


class Traced:
    """One run of a function of one (nested) argument, from which cotangents can be pulled back."""

    def __init__(self, fun: Function, x: Any) -> None:
        self.x = x = floating(x)
        with tracing():
            self.run = record_call(fun, (x,), {}, [0])
        self.result = self.run.result
        self.outputs = leaves(self.result)
        self.followed = [o for o in self.outputs if isinstance(o, Tensor) and node_of(o).bits & self.run.tape.bit]
        if not self.followed and self.run.sources:
            why = self.run.why_unconnected(self.outputs[0] if self.outputs else None, 0)
            warnings.warn(f"Output seems independent of input.\n{why}", stacklevel=4)

    @property
    def value(self) -> Any:
        """What the function returned, in arrays and numbers unless an outer derivative follows it."""
        return rebuild(self.result, [hand_out(output, True, set()) for output in self.outputs])

    def pull(self, g: Any, last: bool = False) -> Any:
        """The cotangent of the argument for the cotangent `g` of the result; `last` if there will be no other."""
        given = aligned(self.result, g, "the value", "g")
        pairs = [
            (output, conjugate(check_seed(cotangent, output, "g")))
            for output, cotangent in zip(self.outputs, given, strict=True)
            if any(output is followed for followed in self.followed)
        ]
        found: list[Any] = [None] * len(self.run.sources)
        if pairs:
            found = self.run.pull_back([output for output, _ in pairs], [seed for _, seed in pairs], last)
        seen: set[int] = set()
        filled = [
            np.zeros(source.shape, source.dtype) if gradient is None else conjugate(gradient)
            for gradient, source in zip(found, self.run.sources, strict=True)
        ]
        answers = [hand_out(gradient, True, seen) for gradient in filled]
        if children(self.x) is not None:  # sums of containers are made in place: autograd's numbers are arrays there
            answers = [np.asarray(answer) if isinstance(answer, np.generic) else answer for answer in answers]
        return rebuild(self.x, answers)


def make_vjp(fun: Function, x: Any) -> tuple[Function, Any]:
    """The function that pulls cotangents back from `fun(x)` to `x`, and the value `fun(x)`.

    >>> import numpy as np
    >>> vjp, value = make_vjp(np.sin, np.array([0.0, 1.0]))
    >>> vjp(np.array([1.0, 0.0]))
    array([1., 0.])
    """
    traced = Traced(fun, x)

    def vjp(g: Any) -> Any:
        return traced.pull(g)

    return vjp, traced.value


def make_jvp(fun: Function, x: Any) -> Function:
    """The function from a tangent of `x` to the pair of `fun(x)` and its tangent.

    >>> import numpy as np
    >>> make_jvp(np.sin, 0.0)(2.0)
    (np.float64(0.0), np.float64(2.0))
    """

    def jvp(g: Any) -> tuple[Any, Any]:
        with tracing():
            value, tangent = gt.jvp(fun, (floating(x),), (g,))
        return settled_structure(value), settled_structure(tangent)

    return jvp


class VJPNode(Node):
    """The node of what reverse mode has traced: `backward_pass` starts from it."""

    __slots__ = ("run",)

    run: Traced | None

    def initialize_root(self) -> None:
        """Make this the node of the argument."""
        self.run = None

    @classmethod
    def at(cls, run: Traced) -> VJPNode:
        """The node at the end of a run."""
        node = cls.__new__(cls)
        node.run = run
        return node


class JVPNode(Node):
    """The node of what forward mode has traced; `g` is its tangent."""

    __slots__ = ("g",)

    def initialize_root(self, g: Any) -> None:
        """Make this the node of the argument, with the tangent `g`."""
        self.g = g


def backward_pass(g: Any, end_node: Any) -> Any:
    """The cotangent of the argument, for the cotangent `g` of the value at `end_node`.

    The node is one that `trace` gave, or the `_node` of something made of what `new_box` gave.
    """
    if isinstance(end_node, VJPNode):
        return g if end_node.run is None else end_node.run.pull(g)
    starts = [node for node in toposort(end_node) if node.op is None and node.bits & AMBIENT]
    followed = isbox(g)  # then what is computed from it is followed too
    seed = conjugate(g if followed else np.asarray(g, dtype=end_node.dtype))
    found = walk([(end_node, seed)], AMBIENT, sources=starts, attach=tensor_at if followed else None)
    gradients = [hand_out(conjugate(found.get(node, np.zeros(node.shape, node.dtype))), True, set()) for node in starts]
    return gradients[0] if len(gradients) == 1 else gradients


# -- rules of primitives, backwards


def defvjp_argnums(fun: Function, vjpmaker: Function) -> None:
    """Give a primitive its rule: `vjpmaker(argnums, ans, args, kwargs)(g)` has a cotangent for each of `argnums`."""
    primitive_vjps[fun] = vjpmaker


def defvjp_argnum(fun: Function, vjpmaker: Function) -> None:
    """Give a primitive its rule: `vjpmaker(argnum, ans, args, kwargs)(g)` is the cotangent of one argument."""

    def by_argnums(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Function:
        made = [vjpmaker(argnum, ans, args, kwargs) for argnum in argnums]
        return lambda g: tuple(vjp(g) for vjp in made)

    defvjp_argnums(fun, by_argnums)


def defvjp(fun: Function, *vjpmakers: Any, argnums: Any = None) -> None:
    """Give a primitive a rule for each argument: `vjpmaker(ans, *args, **kwargs)(g)`; None where it is zero."""
    makers = dict(zip(count() if argnums is None else argnums, vjpmakers))
    for maker in vjpmakers:
        if maker is not None and not callable(maker):
            raise TypeError(f"Bad VJP {maker!r} for {get_name(fun)!r}; a rule is a function, or None for zero")

    def by_argnums(numbers: Any, ans: Any, args: Any, kwargs: Any) -> Function:
        missing = [number for number in numbers if number not in makers]
        if missing:
            raise NotImplementedError(
                f"VJP of {get_name(fun)} wrt argnums {tuple(missing)} not defined.\n"
                f"  fix: defvjp({get_name(fun)}, ...) with a rule for each argument; None where the gradient is zero"
            )
        made = [None if makers[n] is None else makers[n](ans, *args, **kwargs) for n in numbers]
        return lambda g: tuple(None if vjp is None else vjp(g) for vjp in made)

    by_argnums.__name__ = f"defvjp({get_name(fun)})"
    defvjp_argnums(fun, by_argnums)


# -- rules of primitives, forwards


def defjvp_argnums(fun: Function, jvpmaker: Function) -> None:
    """Give a primitive its rule: `jvpmaker(argnums, gs, ans, args, kwargs)` is the tangent of the result."""
    primitive_jvps[fun] = jvpmaker


def defjvp_argnum(fun: Function, jvpmaker: Function) -> None:
    """Give a primitive its rule: `jvpmaker(argnum, g, ans, args, kwargs)` is the part that one argument contributes."""

    def by_argnums(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        return sum_outgrads([jvpmaker(argnum, g, ans, args, kwargs) for argnum, g in zip(argnums, gs, strict=True)])

    defjvp_argnums(fun, by_argnums)


def defjvp(fun: Function, *jvpfuns: Any, argnums: Any = None) -> None:
    """Give a primitive a rule for each argument: `jvpfun(g, ans, *args, **kwargs)`.

    None is for zero, and "same" for an argument that the result is linear in: then the primitive itself is the rule.
    """
    makers = dict(zip(count() if argnums is None else argnums, jvpfuns))
    for maker in jvpfuns:
        if maker is not None and maker != "same" and not callable(maker):
            raise TypeError(f"Bad JVP {maker!r} for {get_name(fun)!r}; a rule is a function, None for zero, or 'same'")

    def part(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        if argnum not in makers:
            raise NotImplementedError(f"JVP of {get_name(fun)} wrt argnum {argnum} not defined")
        if makers[argnum] is None:
            return vspace(ans).zeros()
        if makers[argnum] == "same":
            return fun(*subval(args, argnum, g), **kwargs)
        return makers[argnum](g, ans, *args, **kwargs)

    defjvp_argnum(fun, part)


def def_linear(fun: Function) -> None:
    """Say that a primitive is linear in each of its arguments: forwards, it is its own rule."""
    defjvp_argnum(fun, lambda argnum, g, ans, args, kwargs: fun(*subval(args, argnum, g), **kwargs))


# -- sums of cotangents


class SparseObject:
    """A cotangent that is mostly zero: `mut_add(array)` adds it to an array of the vector space `vs`."""

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: VSpace, mut_add: Function) -> None:
        self.vs, self.mut_add = vs, mut_add

    @property
    def dense(self) -> Any:
        """The cotangent with its zeros."""
        return self.mut_add(self.vs.zeros())


def sum_outgrads(gs: Any) -> Any:
    """The sum of cotangents of one value."""
    dense = [getattr(g, "dense", g) for g in gs]
    total = dense[0]
    for g in dense[1:]:
        total = vspace(total).add(total, g)
    return total


# -- the names of old


def primitive_with_deprecation_warnings(f_raw: Function) -> Function:
    """`primitive`, with the methods that gave it rules in autograd before 1.2, each with a warning."""
    wrapped = _primitive(f_raw)
    rules: dict[int, Any] = {}

    def enter(what: str, argnum: int, rule: Any) -> None:
        warnings.warn(f"the method {what} is deprecated; use autograd.extend.defvjp", stacklevel=3)
        rules[argnum] = rule
        defvjp(wrapped, *rules.values(), argnums=tuple(rules))

    def defvjp_unstaged(vjpmaker: Function, argnum: int = 0) -> None:
        def staged(ans: Any, *args: Any, **kwargs: Any) -> Function:
            return lambda g: vjpmaker(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)

        enter("defvjp", argnum, staged)

    def defvjp_is_zero(argnums: Any = (0,)) -> None:
        for argnum in argnums:
            enter("defvjp_is_zero", argnum, None)

    def defgrad(gradfun: Function, argnum: int = 0) -> None:
        enter("defgrad", argnum, gradfun)

    wrapped.defvjp = defvjp_unstaged  # type: ignore[attr-defined]
    wrapped.defvjp_is_zero = defvjp_is_zero  # type: ignore[attr-defined]
    wrapped.defgrad = defgrad  # type: ignore[attr-defined]
    return wrapped


primitive = primitive_with_deprecation_warnings

__getattr__ = missing_names.missing(__name__)

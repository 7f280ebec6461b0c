"""The four ways to declare an operation. The mathematics is written once; both modes follow from it.

- `elementwise`: its partial derivatives. Reverse: multiply, then undo the broadcast. Forward: multiply, then add.
- `linear`: its transpose. Forward mode is the operation itself.
- `multilinear`: a transpose for each argument. Forward: the sum of the operation with each replaced by its tangent.
- `general`: both rules, written out.

A rule is a function that names what it needs: `g` is the cotangent, `out` the result, `x`, `y`, ... the inputs (by
default in that order), `dx`, `dy`, ... their tangents, and any other name a keyword parameter of the call. What no rule
names is not saved. In a transpose, the argument it belongs to is known by `shape` and `dtype` only.

Rules are written in NumPy, so they run on bare arrays when nothing records the walk and on tensors when something does.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.backprop import is_spare
from gradtape.core.batch import batch_elementwise
from gradtape.core.fast_apply import fast_binary, fast_unary, is_plain
from gradtape.core.graph import FLAGS, PARTS, Node
from gradtape.core.operation import Batch, Op, apply
from gradtape.core.shapes import unbroadcast

TABLE: dict[str, Op] = {}
"""Every operation, by name. Tests are generated from it."""


class over:
    """A partial derivative that is one over something, given as that something: the rule then divides by it."""

    def __init__(self, rule: Callable[..., Any]) -> None:
        self.rule = rule


Partial = Callable[..., Any] | over | float | None
_GENERATED = f"{__file__}:generated"  # a name in this folder, so that these frames are not taken for the user's
DEFAULT_NAMES = ("x", "y", "z", "w", "v", "u")


def _parameters(rule: Callable[..., Any]) -> list[str]:
    """The names of what `rule` needs. A ufunc needs the input."""
    if isinstance(rule, np.ufunc):
        return ["x"]
    code = getattr(rule, "__code__", None)
    if code is None or hasattr(rule, "__wrapped__"):
        return list(inspect.signature(rule).parameters)
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])  # the same, in a tenth of the time


def _is_identity(rule: Callable[..., Any]) -> bool:
    """Whether `rule` is `lambda y: y`, which need not be called."""
    code, identity = getattr(rule, "__code__", None), (lambda x: x).__code__
    return code is not None and (code.co_code, code.co_argcount) == (identity.co_code, 1)


def _needs(rule: Any, names: Sequence[str], own: int | None = None) -> frozenset[int]:
    """The positions of the inputs that `rule` names, leaving out `own`, of which it only sees the shape."""
    if not callable(rule):
        return frozenset()
    used = {names.index(p.removeprefix("*")) for p in _parameters(rule) if p in names}
    return frozenset(used - {own})


def _adapter(rule: Callable[..., Any], names: Sequence[str], own: int | None = None) -> Callable[..., Any]:
    """`rule` as a function of (g, node, out, inputs, tangents), which hands it what it names."""

    def build() -> Callable[..., Any]:
        source = f"lambda g, node, out, inputs, tangents=None: rule({_arguments(rule, names, own)})"
        adapted: Callable[..., Any] = eval(compile(source, _GENERATED, "eval"), {"rule": rule})
        return adapted

    return _Late(build)


def _only_cotangent(rule: Any, names: Sequence[str]) -> Callable[..., Any]:
    """The reverse rule of an operation with one input."""
    source = f"lambda g, node, out, inputs: (rule({_arguments(rule, names, 0)}),)"
    reverse: Callable[..., Any] = eval(compile(source, _GENERATED, "eval"), {"rule": rule})
    return reverse


class _Late:
    """A function that is built when it is first called: most of the table is not needed by most programs."""

    __slots__ = ("build", "built")

    def __init__(self, build: Callable[[], Callable[..., Any]]) -> None:
        self.build = build
        self.built: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self.built is None:
            self.built = self.build()
        return self.built(*arguments)


def _arguments(rule: Callable[..., Any], names: Sequence[str], own: int | None = None) -> str:
    """What `rule` names, as expressions of g, node, out, inputs and tangents."""
    arguments = []
    for parameter in _parameters(rule):
        if parameter in ("g", "out", "inputs"):
            arguments.append(parameter)
        elif parameter in names:
            index = names.index(parameter)
            arguments.append(f"node.parents[{index}]" if index == own else f"inputs[{index}]")
        elif parameter.startswith("d") and parameter[1:] in names:
            arguments.append(f"tangents[{names.index(parameter[1:])}]")
        else:
            arguments.append(f"node.params[{parameter!r}]")
    return ", ".join(arguments)


def _declare(name: str | None, kernel: Callable[..., Any], **details: Any) -> Op:
    op = Op(name or kernel.__name__, kernel, **details)
    if is_plain(op):
        op.fast_unary, op.fast_binary = fast_unary(op, depth=2), fast_binary(op, depth=2)
    if op.name in TABLE:
        raise ValueError(f"the operation {op.name!r} is declared twice")
    TABLE[op.name] = op
    return op


def elementwise(
    kernel: Callable[..., Any],
    *partials: Partial,
    name: str | None = None,
    names: Sequence[str] = DEFAULT_NAMES,
    **details: Any,
) -> Op:
    """An operation on each element by itself.

    A partial is a function, one `over` a function, a constant, or None (no derivative there).
    """
    slopes = [p.rule if isinstance(p, over) else p for p in partials]
    divides = [isinstance(p, over) for p in partials]
    rules = [_adapter(slope, names) if callable(slope) else slope for slope in slopes]

    def reverse(g: Any, node: Node, out: Any, inputs: tuple[Any, ...]) -> Any:
        own_op.reverse = _elementwise_reverse(slopes, divides, names)  # from now on
        own_op.reverse_large = _elementwise_reverse(slopes, divides, names, reuse=True)
        return own_op.reverse(g, node, out, inputs)

    def forward(node: Node, out: Any, inputs: tuple[Any, ...], tangents: Sequence[Any]) -> Any:
        total: Any = None
        for rule, divide, tangent in zip(rules, divides, tangents, strict=True):
            if rule is None or tangent is None:
                continue
            slope = rule(None, node, out, inputs) if callable(rule) else rule
            term = tangent / slope if divide else tangent * slope
            if own_op.chosen is not None:  # what was not chosen may move as it likes, infinitely fast too
                term = np.where(slope == 0, np.zeros((), term.dtype), term)
            total = term if total is None else total + term
        return None if total is None else as_result(total, node)

    own_op = _declare(
        name,
        kernel,
        reverse=reverse,
        forward=forward,
        batch=batch_elementwise,
        needs=tuple(_needs(slope, names) for slope in slopes),
        needs_out=frozenset(i for i, slope in enumerate(slopes) if callable(slope) and "out" in _parameters(slope)),
        kind="elementwise",
        varying=frozenset(i for i, slope in enumerate(slopes) if callable(slope)),
        **details,
    )
    return own_op


def _elementwise_reverse(
    partials: Sequence[Any], divides: Sequence[bool], names: Sequence[str], reuse: bool = False
) -> Callable[..., Any]:
    """The reverse rule of an elementwise operation, written out as one function, for speed.

    For two inputs with partials `lambda y: ...` and -1 it reads

        def reverse(g, node, out, inputs):
            parent0, parent1 = node.parents
            cotangent0 = cotangent1 = None
            if parent0.bits > FLAGS:
                if node.dtype is not DOUBLE and node.dtype.kind == "c":
                    cotangent0 = g * conj(partial0(inputs[1]))
                else:
                    cotangent0 = g * partial0(inputs[1])
                if node.shape != parent0.shape:
                    cotangent0 = unbroadcast(cotangent0, parent0.shape)
            if parent1.bits > FLAGS:
                cotangent1 = g * -1
                ...
            return cotangent0, cotangent1

    One expression, so that NumPy can reuse the memory of a large temporary. With `reuse`, the last product is written
    over `g` if there is no other reference to it.
    """
    every = range(len(partials))
    lines = [
        "def reverse(g, node, out, inputs):",
        "    " + ", ".join(f"parent{i}" for i in every) + ", = node.parents",
        "    " + " = ".join(f"cotangent{i}" for i in every) + " = None",
    ]
    scope: dict[str, Any] = {
        "FLAGS": FLAGS,
        "DOUBLE": np.dtype(float),
        "conj": np.conj,
        "multiply": np.multiply,
        "divide": np.divide,
        "unbroadcast": unbroadcast,
        "is_spare": is_spare,
        "PLAIN": (np.ndarray, np.generic, float, int),
        "getrefcount": sys.getrefcount,
    }
    for i, partial in enumerate(partials):
        if partial is None:
            continue
        lines.append(f"    if parent{i}.bits > FLAGS:")
        if callable(partial):
            scope[f"partial{i}"] = partial
            slope, sign = _arguments(partial, names), "/" if divides[i] else "*"
            if not _is_identity(partial):
                slope = f"partial{i}({slope})"
            lines.append('        if node.dtype is not DOUBLE and node.dtype.kind == "c":')
            lines.append(f"            cotangent{i} = g {sign} conj({slope})")
            if reuse and i == len(partials) - 1:
                lines.append("        elif is_spare(getrefcount(g), g):")
                lines.append(f"            slope = {slope}")  # of a batch, it has no place in the memory of g
                product = "divide" if divides[i] else "multiply"
                lines.append(f"            cotangent{i} = {product}(g, slope, g if isinstance(slope, PLAIN) else None)")
            lines.append("        else:")
            lines.append(f"            cotangent{i} = g {sign} {slope}")
        else:
            lines.append(f"        cotangent{i} = g" + ("" if partial == 1 else f" * {partial!r}"))
        if len(partials) > 1:
            lines.append(f"        if node.shape != parent{i}.shape:")
            lines.append(f"            cotangent{i} = unbroadcast(cotangent{i}, parent{i}.shape)")
    lines.append("    return " + ", ".join(f"cotangent{i}" for i in every) + ",")
    exec(compile("\n".join(lines), _GENERATED, "exec"), scope)
    reverse: Callable[..., Any] = scope["reverse"]
    return reverse


def linear(
    kernel: Callable[..., Any],
    *transposes: Callable[..., Any] | None,
    name: str | None = None,
    names: Sequence[str] = DEFAULT_NAMES,
    variadic: bool = False,
    batch: Batch | None = None,
    **details: Any,
) -> Op:
    """An operation that is linear in all its differentiable inputs together; None for an input that only steers it.

    With `variadic`, it takes any number of inputs and its one transpose returns the cotangents of all of them.
    """
    rules = [None if t is None else _adapter(t, names, own) for own, t in enumerate(transposes)]
    steering = frozenset(i for i, t in enumerate(transposes) if t is None)

    def reverse(g: Any, node: Node, out: Any, inputs: tuple[Any, ...]) -> Any:
        return [
            rule(g, node, out, inputs) if rule is not None and parent.bits > FLAGS else None
            for rule, parent in zip(rules, node.parents, strict=True)
        ]

    def reverse_of_one(g: Any, node: Node, out: Any, inputs: tuple[Any, ...]) -> Any:
        own_op.reverse = _only_cotangent(transposes[0], names)  # from now on
        return own_op.reverse(g, node, out, inputs)

    def forward(node: Node, out: Any, inputs: tuple[Any, ...], tangents: Sequence[Any]) -> Any:
        if all(tangent is None for tangent in tangents):
            return None
        arguments = [
            inputs[i] if i in steering else np.zeros(*inputs[i]) if tangent is None else tangent
            for i, tangent in enumerate(tangents)
        ]
        return as_result(apply(own_op, tuple(arguments), node.params), node)

    needs = tuple(_needs(t, names, own) | steering for own, t in enumerate(transposes))
    own_op = _declare(
        name,
        kernel,
        reverse=rules[0] if variadic else reverse_of_one if len(rules) == 1 else reverse,
        forward=forward,
        batch=batch,
        needs=() if variadic else needs,
        specs=len(transposes) > 1 or variadic,
        kind="linear",
        **details,
    )
    return own_op


def multilinear(
    kernel: Callable[..., Any],
    *transposes: Callable[..., Any],
    name: str | None = None,
    names: Sequence[str] = DEFAULT_NAMES,
    variadic: bool = False,
    batch: Batch | None = None,
    **details: Any,
) -> Op:
    """An operation that is linear in each argument while the others stand still.

    With `variadic`, it takes any number of arguments, and its one transpose is told which by `index`.
    """
    rules = [_adapter(t, names, own) for own, t in enumerate(transposes)] if not variadic else []

    def reverse(g: Any, node: Node, out: Any, inputs: tuple[Any, ...]) -> Any:
        if variadic:
            return [
                transposes[0](g, i, inputs, parent, **node.params) if parent.bits > FLAGS else None
                for i, parent in enumerate(node.parents)
            ]
        return [
            rule(g, node, out, inputs) if parent.bits > FLAGS else None
            for rule, parent in zip(rules, node.parents, strict=True)
        ]

    def forward(node: Node, out: Any, inputs: tuple[Any, ...], tangents: Sequence[Any]) -> Any:
        total: Any = None
        for i, tangent in enumerate(tangents):
            if tangent is not None:
                term = apply(own_op, (*inputs[:i], tangent, *inputs[i + 1 :]), node.params)
                total = term if total is None else total + term
        return None if total is None else as_result(total, node)

    own_op = _declare(
        name,
        kernel,
        reverse=reverse,
        forward=forward,
        batch=batch,
        needs=None,
        kind="multilinear",
        **details,
    )
    return own_op


def general(
    kernel: Callable[..., Any],
    *,
    reverse: Callable[..., Any],
    forward: Callable[..., Any],
    name: str | None = None,
    names: Sequence[str] = DEFAULT_NAMES,
    inputs: int = 1,
    **details: Any,
) -> Op:
    """An operation with both rules written out. `reverse` returns one cotangent, or a tuple with one for each input."""
    backward_rule, forward_rule = _adapter(reverse, names), _adapter(forward, names)

    def run_reverse(g: Any, node: Node, out: Any, values: tuple[Any, ...]) -> Any:
        cotangents = backward_rule(g, node, out, values)
        return cotangents if isinstance(cotangents, tuple) else (cotangents,)

    def run_forward(node: Node, out: Any, values: tuple[Any, ...], tangents: Sequence[Any]) -> Any:
        if all(tangent is None for tangent in tangents):
            return None
        filled = [np.zeros(values[i].shape, values[i].dtype) if t is None else t for i, t in enumerate(tangents)]
        return as_result(forward_rule(None, node, out, values, filled), node)

    used = _needs(reverse, names) | _needs(forward, names)
    uses_out = "out" in (*_parameters(reverse), *_parameters(forward))
    return _declare(
        name,
        kernel,
        reverse=run_reverse,
        forward=run_forward,
        needs=(used,) * inputs,
        specs=inputs > 1,
        needs_out=frozenset(range(inputs)) if uses_out else frozenset(),
        kind="general",
        **details,
    )


def constant(kernel: Callable[..., Any], *, name: str | None = None, **details: Any) -> Op:
    """An operation without a derivative: comparisons, argmax, rounding. A gradient that meets it ends there."""
    return _declare(name, kernel, kind="constant", **details)


def as_result(tangent: Any, node: Node) -> Any:
    """`tangent` in the shape and dtype of the result it belongs to."""
    if isinstance(tangent, tuple):
        specs = node.params[PARTS]
        return tuple(_broadcast_and_cast(part, *spec) for part, spec in zip(tangent, specs, strict=True))
    return _broadcast_and_cast(tangent, node.shape, node.dtype)


def _broadcast_and_cast(tangent: Any, shape: Any, dtype: Any) -> Any:
    if tangent is None:
        return None
    if np.shape(tangent) != shape:
        tangent = np.broadcast_to(tangent, shape)
    return tangent if tangent.dtype == dtype else tangent.astype(dtype)

"""How the rows of the chapters beside gamma, error, incomplete and Bessel functions are declared.

As in `declare`, the kernel is SciPy's function, and here it always keeps single precision. Arguments that are no
continuous ones are refused when a gradient by them is asked for; for parameters that are, see `parameter_derivative`.
`results_row` is for functions with several results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise
from gradtape.core.graph import FLAGS
from gradtape.core.operation import Op
from gradtape.core.rules import DEFAULT_NAMES, Partial, _adapter, _declare, _parameters, as_result, elementwise
from gradtape.core.shapes import unbroadcast
from gradtape.ops.special.declare import no_slope, scipy_ufunc

Samples = Callable[[Any], list[Any]]


# -- kernels


def in_precision(results: Any, *inputs: Any) -> Any:
    """Results in the precision of the inputs, of which Python's numbers say nothing."""
    if isinstance(results, tuple):
        return tuple(in_precision(result, *inputs) for result in results)
    weak = all(isinstance(x, bool | int | float | complex) for x in inputs)
    single = not weak and np.result_type(np.float32, *inputs) in (np.float32, np.complex64)
    kind = "FD" if np.iscomplexobj(results) else "fd"
    with np.errstate(over="ignore"):  # what is too large for single precision is infinite there
        return np.asarray(results).astype(kind[not single], copy=False)


def refuse_complex(*inputs: Any) -> None:
    """Raise for complex numbers, of which a function is not analytic or has no derivative here."""
    if any(np.iscomplexobj(x) for x in inputs):
        raise TypeError("this function has a derivative here for real numbers only, not for complex ones")


def precise_kernel(name: str, real: bool = False) -> Callable[..., Any]:
    """A kernel that calls SciPy's function and answers in the precision of its inputs."""

    def kernel(*inputs: Any) -> Any:
        if real:
            refuse_complex(*inputs)
        return in_precision(scipy_ufunc(name)(*inputs), *inputs)

    return kernel


def double_kernel(name: str) -> Callable[..., Any]:
    """SciPy's function in double precision: for single some take counts for fractions, or never end."""

    def kernel(*values: Any) -> Any:
        arrays = [np.asarray(value) for value in values]
        doubles = [array.astype(float) if array.dtype.kind == "f" else array for array in arrays]
        return in_precision(scipy_ufunc(name)(*doubles), *values)

    return kernel


# -- rows


def function_row(
    name: str,
    *partials: Partial,
    doc: tuple[str, str, str],
    real: bool = False,
    kernel: Callable[..., Any] | None = None,
    answers: Sequence[str] = (),
    operation: str = "",
    **details: Any,
) -> Op:
    """A row that stands for SciPy's function `name`; `doc` is as for `example`.

    `operation` is its name in the table, if another row has that of the function.
    """
    return elementwise(
        kernel or precise_kernel(name, real),
        *partials,
        name=operation or name,
        answers=(f"scipy.special.{name}", *answers),
        doc=example(*doc),
        **details,
    )


def results_row(
    name: str,
    *slopes: Callable[..., Any] | None,
    doc: tuple[str, str, str],
    real: bool = False,
    names: Sequence[str] = DEFAULT_NAMES,
    kernel: Callable[..., Any] | None = None,
    **details: Any,
) -> Op:
    """A row for a function of each element by itself with several results.

    A slope belongs to an input and returns the partial derivatives of all results; it may use them as `out`.
    """
    rules = [None if slope is None else _adapter(slope, names) for slope in slopes]

    def partials(i: int, node: Any, out: Any, inputs: Any) -> Any:
        rule = rules[i]
        return None if rule is None else rule(None, node, out, inputs)

    def reverse(g: Any, node: Any, out: Any, inputs: Any) -> list[Any]:
        found: list[Any] = []
        for i, parent in enumerate(node.parents):
            each = partials(i, node, out, inputs) if parent.bits > FLAGS else None
            total = (
                None if each is None else sum(c * np.conj(_seen(slope, c)) for c, slope in zip(g, each, strict=True))
            )
            found.append(None if total is None else unbroadcast(total, parent.shape))
        return found

    def forward(node: Any, out: Any, inputs: Any, tangents: Sequence[Any]) -> Any:
        total: Any = None
        for i, tangent in enumerate(tangents):
            each = None if tangent is None else partials(i, node, out, inputs)
            if each is not None:
                terms = [tangent * slope for slope in each]
                total = terms if total is None else [a + b for a, b in zip(total, terms, strict=True)]
        return None if total is None else as_result(tuple(total), node)

    used = [frozenset(names.index(p) for p in _parameters(s) if p in names) if s else frozenset() for s in slopes]
    return _declare(
        name,
        kernel or precise_kernel(name, real),
        reverse=reverse,
        forward=forward,
        batch=batch_elementwise,
        needs=tuple(used),
        needs_out=frozenset(i for i, s in enumerate(slopes) if s and "out" in _parameters(s)),
        specs=True,
        outputs=True,
        kind="general",
        answers=(f"scipy.special.{name}",),
        doc=example(*doc, several=True),
        **details,
    )


def _seen(slope: Any, cotangent: Any) -> Any:
    """A slope, without the poles at which nothing depends on the result: 0 times infinity is 0 there."""
    return np.where((cotangent == 0) & ~np.isfinite(slope), 0, slope)


def fixed(function: str, argument: str, why: str = "") -> Callable[[], Any]:
    """The partial derivative by an argument that is no continuous one: it raises when asked for."""
    return no_slope(function, f"{argument}{f', {why}' if why else ''}", f"give {argument} without gradient: {_STOP}")


_STOP = "as a plain number or array, or gt.stop_gradient of the tensor"


def example(what: str, derivative: str, call: str, several: bool = False) -> str:
    """The docstring of a row, from an example that reads `name(arguments) -> value, slope, ...`.

    Arguments with a decimal point are those that the slopes belong to. With `several`, the numbers are the results.

    >>> example("The dilogarithm", "log(x) / (1 - x)", "spence(2.0) -> -0.82246703, -0.69314718").splitlines()[0]
    'The dilogarithm. Derivative: log(x) / (1 - x).'
    """
    shown, _, results = call.partition(" -> ")
    name, _, inside = shown.rstrip(")").partition("(")
    arguments = inside.split(", ")
    moving = [i for i, argument in enumerate(arguments) if "." in argument]
    tensors = ", ".join(f"gt.tensor({arguments[i]})" for i in moving)
    numbers = [f"Tensor({n}{', dtype=complex128' * n.endswith('j')})" for n in results.split(", ")]
    if several:
        given = ", ".join(f"gt.tensor({a})" if "." in a else a for a in arguments)
        lines = [f">>> gt.special.{name}({given})", f"({', '.join(numbers)})"]
    else:
        which = "" if len(moving) == 1 else f", ({', '.join(str(i) for i in range(len(moving)))})"
        letters = [f"{'xyzwvu'[moving.index(i)]}" if i in moving else a for i, a in enumerate(arguments)]
        names = ", ".join(letter for i, letter in enumerate(letters) if i in moving)
        whole = len(moving) == len(arguments)
        function = f"gt.special.{name}" if whole else f"lambda {names}: gt.special.{name}({', '.join(letters)})"
        value, *found = numbers
        slope = found[0] if len(moving) == 1 else f"({', '.join(found)})"
        lines = [f">>> gt.value_and_grad({function}{which})({tensors})", f"({value}, {slope})"]
    plural = "s" if len(moving) > 1 or several else ""
    shown = "\n    ".join([">>> import gradtape as gt", *lines])
    return f"{what}. Derivative{plural}: {derivative}.\n\n    {shown}\n"


# -- samples


_SHAPES: list[list[tuple[int, ...]]] = [
    [(2, 1), (2, 1), (), (0, 3)],
    [(3,), (1,), (2,), (3,)],
    [(), (2, 1), (), ()],
    [()] * 4,
]
"""The shapes of the first, the second, ... of the arguments that move: never all the same if there are several."""


def samples_of(*arguments: Any, **params: Any) -> Samples:
    """Samples for arguments of which some move, given by their intervals, and some are constants, given as lists."""

    def samples(draw: Any) -> list[Any]:
        moving = [i for i, argument in enumerate(arguments) if isinstance(argument, tuple)]
        found = []
        for pattern in range(4):
            arrays = []
            for i, argument in enumerate(arguments):
                if isinstance(argument, tuple):
                    shapes = _SHAPES[min(moving.index(i), 3)]
                    arrays.append(draw.between(argument, shapes[pattern]))
                else:
                    arrays.append((argument[0], np.array(argument[:2]), argument[-1], argument[0])[pattern])
            found.append((tuple(arrays), dict(params)))
        return found

    return samples


def samples_of_both(first: Samples, second: Samples) -> Samples:
    """The samples of two ways to call a function: with constant parameters, and with some that move."""
    return lambda draw: first(draw) + second(draw)

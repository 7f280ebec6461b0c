"""How the rows of this chapter are declared: SciPy's ufunc as the kernel, imported when it is first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.core.operation import Op
from gradtape.core.rules import Partial, elementwise
from gradtape.core.typing import Array
from gradtape.errors import UnsupportedError
from gradtape.extension import special_function
from gradtape.ops.documentation import slopes

scipy_ufunc = special_function
"""SciPy's ufunc of a name."""


def scipy_kernel(name: str, real: bool = False) -> Callable[..., Any]:
    """A kernel that calls SciPy's ufunc; with `real`, one that refuses the complex numbers that SciPy would take."""

    def kernel(*inputs: Any) -> Any:
        if real:
            result_dtype(*inputs)
        if len(inputs) > 1 and any(type(x) is float for x in inputs):  # SciPy takes them for double precision
            arrays = [x for x in inputs if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc"]
            if arrays:
                inputs = tuple([np.result_type(*arrays).type(x) if type(x) is float else x for x in inputs])
        return scipy_ufunc(name)(*inputs)

    return kernel


def double_kernel(name: str) -> Callable[..., Any]:
    """A kernel that calls SciPy's ufunc in double precision: its loop for single precision overflows."""

    def kernel(*inputs: Array) -> Any:
        dtype = result_dtype(*inputs)
        return scipy_ufunc(name)(*[np.asarray(x, float) for x in inputs]).astype(dtype)

    return kernel


def result_dtype(*inputs: Any) -> np.dtype[Any]:
    """The dtype that a ufunc with loops for single and double precision answers in; Python numbers are weak."""
    if any(np.iscomplexobj(x) for x in inputs):
        raise TypeError("this function has a derivative here for real numbers only, not for complex ones")
    if all(isinstance(x, bool | int | float) for x in inputs):
        return np.dtype(float)
    return np.result_type(np.float32, *inputs)


def row(
    name: str,
    *partials: Partial,
    doc: tuple[str, str, str],
    kernel: Callable[..., Any] | None = None,
    real: bool = False,
    answers: Any = (),
    **details: Any,
) -> Op:
    """A row of the table that stands for SciPy's ufunc `name`.

    `doc` has what it is, its derivative, and an example that reads `name(arguments) -> value, slope, ...`.
    """
    text = slopes(*doc).replace("_grad(gt.", "_grad(gt.special.")
    return elementwise(
        kernel or scipy_kernel(name, real),
        *partials,
        name=name,
        answers=(f"scipy.special.{name}", *answers),
        doc=text,
        **details,
    )


def no_slope(function: str, argument: str, instead: str) -> Callable[[], Any]:
    """A partial derivative that is not there: it raises when a gradient is asked for, and only then."""

    def slope() -> Any:
        raise UnsupportedError(
            f"special.{function} has no derivative with respect to {argument} in gradtape.\n{Location.here().show()}\n"
            f"  fix: {instead}"
        )

    return slope


_SHAPES_APART: dict[int, list[tuple[tuple[int, ...], ...]]] = {
    2: [((3, 1), (4,)), ((), (2, 3)), ((0, 3), (3,)), ((2,), ())],
    3: [((3, 1), (4,), ()), ((2,), (2, 1), (1,)), ((0, 3), (3,), ()), ((1,), (1,), ())],
}


def samples_apart(*domain: tuple[float, float]) -> Callable[[Any], list[Any]]:
    """Samples for inputs that cannot all be the same array, since each has a domain of its own."""
    return lambda draw: [
        (tuple(draw.between(bounds, shape) for bounds, shape in zip(domain, shapes, strict=True)), {})
        for shapes in _SHAPES_APART[len(domain)]
    ]

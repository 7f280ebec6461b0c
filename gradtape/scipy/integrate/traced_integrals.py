"""Integrals inside `jit`: the compiled program calls SciPy, with the integrand as a program on numbers.

What the integrand reads from the code around it has other numbers in each call, and may need a gradient. The integral
is one operation of all that is read. Its derivative is an integral in turn: of the derivative of the integrand, which
is traced in the same way. The limits count as fixed; their part of the derivative is added by `integrals`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.extend import (
    Packing,
    Tensor,
    Untraceable,
    bind_state,
    call_outside,
    is_recorded,
    node_of,
    number_in_trace,
    off_tape,
    pull_callback,
    trace_callback,
)
from gradtape.ops import where
from gradtape.quadrature import adaptive_integral, point_between
from gradtape.transforms.custom import custom_vjp

Function = Callable[..., Any]


class TracedIntegral:
    """The integral from a to b of a function of one number that returns a vector: `value`, and `error`, an estimate.

    `known` are tensors that the function reads, with what stands for each of them among the inputs of the operation.
    """

    def __init__(
        self,
        title: str,
        integrand: Function,
        limits: Sequence[Any],
        options: dict[str, Any],
        known: Sequence[tuple[Tensor, Any]] = (),
    ) -> None:
        self._title, self._options = title, options
        self._integrand = bind_state(integrand)
        self._limits = [off_tape(x) if isinstance(x, Tensor) else np.asarray(x, float) for x in limits]
        self._is_infinite = any(not isinstance(x, Tensor) and np.isinf(x) for x in self._limits)
        between = point_between(*[float(number_in_trace(x)) for x in self._limits])
        self._program = trace_callback(title, self._integrand, [np.float64(between)])
        self._moving = self._program.on_tape
        if self._program.dtype.kind != "f" or any(x.dtype.kind != "f" for x in self._moving):
            raise Untraceable(f"it calls {title}, whose integrand is complex")
        self.error: Any = None
        inputs = [_stand_in(x, known) for x in self._moving]
        if not any(isinstance(x, Tensor) and is_recorded(x) for x in inputs):
            self.value = self._numbers(inputs)
            return
        integral = custom_vjp(self._numbers)
        integral.defvjp(lambda inputs: (self._numbers(inputs), inputs), self._pull)
        self.value = integral(inputs)

    def _numbers(self, inputs: list[Any]) -> Any:
        """The value, with numbers for what the integrand reads: those of `inputs`, where these stand for it."""
        program, (size,), title, options = self._program, self._program.shape, self._title, self._options
        given = list(zip(self._moving, inputs, strict=True))

        def compute(low: Any, high: Any, *read: Any) -> list[Any]:
            value, error = adaptive_integral(
                title, lambda x: program([x], read), float(low), float(high), size, options
            )
            return [value, np.float64(error)]

        read = [off_tape(_stand_in(x, given)) for x in program.read]
        value, self.error = call_outside(title, compute, [*self._limits, *read])
        return value

    def _pull(self, inputs: list[Any], cotangent: Any) -> tuple[list[Any]]:
        """The cotangents of what the integrand reads: the integral of its derivative."""
        packing = Packing([np.zeros(x.shape, x.dtype) for x in self._moving], "args")

        def slope(x: Any) -> Any:
            pulled = packing.pack(pull_callback(self._integrand, x, self._moving, cotangent))
            if not self._is_infinite:
                return pulled
            # far out, where the integrand has underflown to zero, its derivative counts as zero: it may be infinity
            # times zero
            has_vanished = np.all(off_tape(self._integrand(x)) == 0.0)
            return where(has_vanished & ~np.isfinite(pulled), 0.0, pulled)

        given = list(zip(self._moving, inputs, strict=True))
        total = TracedIntegral(self._title, slope, self._limits, self._options, given)
        return (list(packing.unpack(total.value)),)


def _stand_in(tensor: Tensor, known: Sequence[tuple[Tensor, Any]]) -> Any:
    """What stands for a tensor, or itself."""
    return next((given for each, given in known if each is tensor or node_of(each) is node_of(tensor)), tensor)

"""An operation executed again by JAX, on other arrays: forward, and by its gradient rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gradtape.watching.record import Replay


class Function(NamedTuple):
    """What an operation computes: a function of arrays. `constants` further operands are not given to it."""

    call: Callable[..., Any]
    is_several: bool
    order: Sequence[int] | None = None
    constants: int = 0

    def reordered(self, order: Sequence[int]) -> Function:
        """The function of operands in another order: `order[i]` is where operand `i` of `call` is among them."""
        return self._replace(order=tuple(order))

    def with_constants(self, count: int) -> Function:
        """The function with more operands at the end, which it has as parameters."""
        return self._replace(constants=count)

    def as_replay(self) -> Replay:
        """The function and its gradient rule."""
        return Replay(self.forward, self.reverse)

    def _arguments(self, inputs: Sequence[Any]) -> list[Any]:
        given = list(inputs)[: len(inputs) - self.constants]
        return given if self.order is None else [given[index] for index in self.order]

    def forward(self, inputs: Sequence[Any]) -> Any:
        """The result as an array; a list of arrays if there are several."""
        results = jax.tree_util.tree_leaves(self.call(*map(jnp.asarray, self._arguments(inputs))))
        arrays = [np.asarray(result) for result in results]
        return arrays if self.is_several and len(arrays) > 1 else arrays[0]

    def reverse(self, inputs: Sequence[Any], gradient: Any) -> Sequence[Any]:
        """What the rule gives for each input; None for those that have no gradient."""
        arguments = [jnp.asarray(value) for value in self._arguments(inputs)]
        moving = [i for i, value in enumerate(arguments) if jnp.issubdtype(value.dtype, jnp.inexact)]

        def of_moving(*values: Any) -> list[Any]:
            whole = list(arguments)
            for index, value in zip(moving, values):
                whole[index] = value
            return list(jax.tree_util.tree_leaves(self.call(*whole)))

        results, pull = jax.vjp(of_moving, *(arguments[index] for index in moving))
        given: list[Any] = [None] * len(arguments)
        for index, cotangent in zip(moving, pull([_seed(gradient, part, r) for part, r in enumerate(results)])):
            given[index] = np.asarray(cotangent)
        if self.order is not None:
            back = [given[self.order.index(position)] for position in range(len(given))]
            given = back
        return [*given, *[None] * self.constants]


def _seed(gradient: Any, part: int, result: Any) -> Any:
    if isinstance(gradient, dict):
        gradient = gradient.get(part)
    elif isinstance(gradient, list):
        gradient = gradient[part] if part < len(gradient) else None
    if not jnp.issubdtype(result.dtype, jnp.inexact):
        return np.zeros(result.shape, jax.dtypes.float0)
    return jnp.zeros_like(result) if gradient is None else jnp.asarray(gradient, result.dtype).reshape(result.shape)


def replay_of(call: Callable[..., Any], is_several: bool) -> Function:
    """How an operation is executed again."""
    return Function(call, is_several)


__all__ = ["Function", "replay_of"]

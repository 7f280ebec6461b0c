"""Hooks on the way back through a module: what arrives at its outputs, and what leaves at its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape_standins.torch.autograd.function import Function
from gradtape_standins.torch.tensor import Tensor


class BackwardHookFunction(Function):
    """Tensors as they are; on the way back, a function is told their gradients and may replace them."""

    @staticmethod
    def forward(ctx: Any, told: Callable[..., Any], *tensors: Tensor) -> Any:
        """Copies of the tensors, so that the gradients pass through this function."""
        ctx.told = told
        return tuple(tensor.clone() for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The gradients that the hook makes of those that arrive."""
        return None, *ctx.told(gradients)


class Backward:
    """One call of a module that has hooks for the way back."""

    def __init__(
        self, module: Any, before: dict[int, Callable[..., Any]], after: dict[int, Callable[..., Any]]
    ) -> None:
        self.module, self.before, self.after = module, before, after
        self.count = 0
        self.arrived: tuple[Any, ...] = ()
        self.inputs_have_gradients = False

    def on_the_way_in(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, such that what comes back to them is told to the hooks."""
        self.count = len(args)
        places = [index for index, arg in enumerate(args) if isinstance(arg, Tensor)]
        self.inputs_have_gradients = any(args[place].requires_grad for place in places)
        if not self.inputs_have_gradients:
            return args

        def told(gradients: Any) -> Any:
            full = [None] * self.count
            for place, gradient in zip(places, gradients, strict=True):
                full[place] = gradient if args[place].requires_grad else None
            replaced = self._tell(tuple(full))
            return [replaced[place] for place in places]

        passed = list(args)
        made = BackwardHookFunction.apply(told, *[args[place] for place in places])
        for place, tensor in zip(places, made, strict=True):
            passed[place] = tensor if args[place].requires_grad else args[place]
        return tuple(passed)

    def on_the_way_out(self, output: Any) -> Any:
        """The results, such that what arrives at them is kept for the hooks."""
        several = isinstance(output, (tuple, list))
        parts = list(output) if several else [output]
        places = [index for index, part in enumerate(parts) if isinstance(part, Tensor) and part.requires_grad]
        if not places:
            return output

        def told(gradients: Any) -> Any:
            full: list[Any] = [None] * len(parts)
            for place, gradient in zip(places, gradients, strict=True):
                full[place] = gradient
            arrived = tuple(full)
            for hook in list(self.before.values()):
                changed = hook(self.module, arrived)
                arrived = arrived if changed is None else changed if isinstance(changed, tuple) else (changed,)
            self.arrived = arrived
            if not self.inputs_have_gradients:
                self._tell((None,) * self.count)
            return [arrived[place] for place in places]

        for place, tensor in zip(places, BackwardHookFunction.apply(told, *[parts[p] for p in places]), strict=True):
            parts[place] = tensor
        return type(output)(parts) if several else parts[0]

    def _tell(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in list(self.after.values()):
            changed = hook(self.module, gradients, self.arrived)
            gradients = gradients if changed is None else changed if isinstance(changed, tuple) else (changed,)
        return gradients

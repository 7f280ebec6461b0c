"""`torch.autograd.graph`: what can be asked about the graph itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from gradtape.extend import node_of
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.autograd.saving import disable_saved_tensors_hooks, saved_tensors_hooks
from gradtape_standins.torch.grad_fn import GradFn as Node
from gradtape_standins.torch.hooks import RemovableHandle
from gradtape_standins.torch.tensor import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor arrives."""

    node: Any
    output_nr: int = 0
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of a tensor arrives."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(Node(node_of(tensor._value)))


def increment_version(tensor: Tensor) -> None:
    """Say that a tensor was written to."""
    tensor._written += 1


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` when the gradients of all of `tensors` have arrived (with mode="any", when the first has).

    With "all" it is given a list of the gradients, with "any" the one that has arrived.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    arrived: dict[int, Tensor] = {}

    def reached(number: int, gradient: Tensor) -> None:
        arrived[number] = gradient
        if mode == "any":
            if len(arrived) == 1:
                fn(gradient)
        elif len(arrived) == len(tensors):
            fn([arrived[place] for place in range(len(tensors))])
        if len(arrived) == len(tensors):
            arrived.clear()

    def hook(number: int) -> Callable[[Tensor], None]:
        return lambda gradient: reached(number, gradient)

    handles = [tensor.register_hook(hook(number)) for number, tensor in enumerate(tensors)]

    def remove() -> None:
        for handle in handles:
            handle.remove()

    return RemovableHandle(remove)


@contextmanager
def save_on_cpu(pin_memory: bool = False, device_type: str = "cpu") -> Iterator[None]:
    """Nothing: what is saved is on the CPU."""
    yield


__getattr__ = missing(__name__)

"""Functions of gradtape inside PyTorch's graph."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtape.bridges.program import ArrayProgram, Arrays, BridgeCall, check_callable
from gradtape.extend import import_library, torch_to_array
from gradtape.transforms.gradients import jvp
from gradtape.transforms.vmap import vmap


def as_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, of tensors, as a function of PyTorch's tensors that PyTorch differentiates through.

    Arguments and results can be nested. PyTorch tensors become tensors of the same dtype, everything else is passed on
    as it is; the results are PyTorch tensors. `create_graph=True` and `torch.func` (grad, jvp, vmap) work.

    >>> import numpy as np, gradtape as gt
    >>> from importlib.util import find_spec
    >>> if find_spec("torch"):
    ...     import torch
    ...     x = torch.tensor([1.0, 2.0], requires_grad=True)
    ...     gt.bridges.as_torch(lambda x: np.sum(np.sin(x) ** 2))(x).backward()
    ...     assert torch.allclose(x.grad, torch.sin(2 * x))
    """
    torch = import_library("torch", "as_torch")
    check_callable(function, "as_torch")

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = BridgeCall(function, (args, kwargs), lambda leaf: isinstance(leaf, torch.Tensor))
        return call.results(_run(call.program, call.arrays))

    return wrapped


class _Step:
    """One crossing of the bridge: the program, and what it recorded on the way, if a gradient is wanted."""

    def __init__(self, program: ArrayProgram, wanted: list[int] | None) -> None:
        self.program = program
        self.wanted = wanted
        self.pull: Callable[[Arrays], Arrays] | None = None

    def forward(self, arrays: Arrays) -> Arrays:
        if self.wanted is None:
            return self.program(*arrays)
        results, self.pull = self.program.recorded(arrays, self.wanted)
        return results


def _run(program: ArrayProgram, tensors: list[Any]) -> list[Any]:
    """The results of `program` as PyTorch tensors that know where they come from."""
    torch = import_library("torch", "as_torch")
    grad = torch.is_grad_enabled()
    wanted = [place for place, x in enumerate(tensors) if grad and x.requires_grad]
    return list(_function().apply(_Step(program, wanted or None), *tensors))


@functools.cache
def _function() -> Any:
    """The `torch.autograd.Function` that takes a step and tensors."""
    torch = import_library("torch", "as_torch")

    def to_torch(array: Any) -> Any:
        return torch.from_numpy(array)

    base: Any = torch.autograd.Function

    class GradtapeFunction(base):  # type: ignore[misc]
        @staticmethod
        def forward(step: _Step, *tensors: Any) -> tuple[Any, ...]:
            return tuple(to_torch(result) for result in step.forward([torch_to_array(x) for x in tensors]))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.step, *tensors = inputs
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)
            ctx.differentiable = [_has_derivative(x) for x in output]
            ctx.mark_non_differentiable(*[x for x in output if not _has_derivative(x)])

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
            step, tensors = ctx.step, ctx.saved_tensors
            wanted = [place for place, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
            seeds = [seed for seed, there in zip(cotangents, ctx.differentiable, strict=True) if there]
            pull, step.pull = step.pull, None  # what was recorded is kept once; a second walk records anew
            if pull is not None and step.wanted == wanted and not torch.is_grad_enabled():
                found = [to_torch(each) for each in pull([torch_to_array(seed) for seed in seeds])]
            else:
                found = _run(step.program.derivative(len(tensors), wanted), [*tensors, *seeds])
            gradients: list[Any] = [None] * len(tensors)
            for place, each in zip(wanted, found, strict=True):
                gradients[place] = each
            return None, *gradients

        @staticmethod
        def jvp(ctx: Any, _: None, *tangents: Any) -> tuple[Any, ...]:
            tensors = ctx.saved_tensors
            moved = [place for place, tangent in enumerate(tangents) if tangent is not None]
            pushed = _run(_pushed(ctx.step.program, len(tensors), moved), [*tensors, *[tangents[p] for p in moved]])
            supply = iter(pushed)
            return tuple(next(supply) if there else None for there in ctx.differentiable)

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], step: _Step, *tensors: Any) -> tuple[Any, Any]:
            results = _run(_mapped(step.program, in_dims[1:]), list(tensors))
            return tuple(results), (0,) * len(results)

    return GradtapeFunction


def _has_derivative(x: Any) -> bool:
    return bool(x.is_floating_point() or x.is_complex())


def _mapped(program: ArrayProgram, axes: tuple[int | None, ...]) -> ArrayProgram:
    """The program that maps over these axes of its inputs; the results are stacked along their first axis."""
    return ArrayProgram(vmap(program.function, in_axes=tuple(axes)), f"vmap of {program.name}")


def _pushed(program: ArrayProgram, inputs: int, moved: list[int]) -> ArrayProgram:
    """The program of inputs and tangents that gives the tangents of the floating point results."""

    def push(*values: Any) -> list[Any]:
        given = list(values[:inputs])

        def chosen(*tensors: Any) -> list[Any]:
            full = list(given)
            for place, tensor in zip(moved, tensors, strict=True):
                full[place] = tensor
            return [result for result in program.function(*full) if result.dtype.kind in "fc"]

        _, tangents = jvp(chosen, [given[place] for place in moved], list(values[inputs:]))
        return list(tangents)

    return ArrayProgram(push, f"the derivative of {program.name}")

"""One step of each contender on a row: NumPy arrays in, value and gradients as NumPy arrays out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import limit
from limit import compiler

Step = Callable[[], tuple[float, Sequence[np.ndarray]]]
Memory = Callable[[], int | None]


def warm_up(contender: str, name: str, threads: int | None) -> None:
    """Import what the contender needs and compile x + 1, so that its first call is about the workload only."""
    x = np.ones(2)
    if contender == "gradtape":
        import gradtape as gt

        gt.config.threads = threads
        gt.jit(gt.value_and_grad(gt.sum))(x)
    elif contender == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.jit(jax.value_and_grad(jax.numpy.sum))(x)
    elif contender != "C++":
        import torch

        torch.from_numpy(x).requires_grad_().sum().backward()
    limit.load(name, contender)


def with_gradtape(name: str, size: Any) -> tuple[Step, Memory]:
    """`gt.jit(gt.value_and_grad(program))`; what `CLOSED` names is in the closure, everything else an argument."""
    import gradtape as gt

    module = limit.load(name)
    arguments = module.initialise(size)
    program, arguments, positions = limit.close_over(module, arguments)
    run = gt.jit(gt.value_and_grad(program, argnums=positions))

    def memory() -> int | None:
        return run.memory if run.stats.uncompiled == 0 else None

    return (lambda: run(*arguments)), memory


def with_anchor(name: str, size: Any) -> tuple[Step, Memory]:
    """The hand-written C++ program."""
    module = limit.load(name, "")
    anchor = compiler.Anchor(name)
    run, arguments = bind_anchor(anchor, module, module.initialise(size))
    results = sum(arguments[i].nbytes for i in limit.anchor_positions(module))
    return (lambda: run(*arguments)), (lambda: anchor.bytes + results)


def bind_anchor(
    anchor: compiler.Anchor, module: ModuleType, arguments: Sequence[Any]
) -> tuple[Callable[..., Any], list[np.ndarray]]:
    """The anchor's function and the arrays that it takes."""
    if hasattr(module, "anchor_arguments"):
        arguments = module.anchor_arguments(*arguments)
    arrays = [np.ascontiguousarray(array) for array in arguments]
    return anchor.bound(arrays, limit.anchor_positions(module)), arrays


def with_jax(name: str, size: Any) -> tuple[Step, Memory]:
    """`jax.jit(jax.value_and_grad(program))`; what is not differentiated by is on the device from the start."""
    import jax

    jax.config.update("jax_enable_x64", True)
    module = limit.load(name, "jax")
    program = getattr(module, "program_jax", module.program)
    arguments = module.initialise(size)
    if hasattr(module, "jax_arguments"):
        arguments = module.jax_arguments(*arguments)
    parameters = tuple(arguments[i] for i in module.ARGUMENTS)
    rest = [None if i in module.ARGUMENTS else _on_device(a) for i, a in enumerate(arguments)]

    run = jax.jit(jax.value_and_grad(lambda parameters, rest: program(*merged(module, parameters, rest))))

    def step() -> Any:
        value, gradients = run(parameters, rest)
        return float(value), [np.asarray(gradient) for gradient in gradients]

    return step, (lambda: None)


def _on_device(array: Any) -> Any:
    import jax

    return jax.numpy.asarray(array) if isinstance(array, np.ndarray) else array


def merged(module: ModuleType, parameters: Sequence[Any], rest: Sequence[Any]) -> list[Any]:
    """All arguments, from those differentiated by and a list with the others."""
    whole = list(rest)
    for position, parameter in zip(module.ARGUMENTS, parameters, strict=True):
        whole[position] = parameter
    return whole


def with_torch(name: str, size: Any, compiled: bool = False) -> tuple[Step, Memory]:
    """PyTorch, eager or with `torch.compile`; arrays become tensors without a copy."""
    import torch

    module = limit.load(name, "")
    arguments = module.initialise(size)
    parameters = [arguments[i] for i in module.ARGUMENTS]
    if hasattr(module, "torch_arguments"):
        arguments = module.torch_arguments(torch, *arguments)
    rest = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in arguments]

    def loss(*leaves: Any) -> Any:
        return module.program_torch(torch, *merged(module, leaves, rest))

    run = torch.compile(loss) if compiled else loss

    def step() -> Any:
        leaves = [torch.from_numpy(p).requires_grad_() for p in parameters]
        value = run(*leaves)
        return value.item(), [gradient.numpy() for gradient in torch.autograd.grad(value, leaves)]

    return step, (lambda: None)


def with_torch_compile(name: str, size: Any) -> tuple[Step, Memory]:
    """`torch.compile` of the program, then its gradient."""
    return with_torch(name, size, compiled=True)


BUILDERS: dict[str, Callable[[str, Any], tuple[Step, Memory]]] = {
    "gradtape": with_gradtape,
    "C++": with_anchor,
    "jax": with_jax,
    "torch": with_torch,
    "torch.compile": with_torch_compile,
}


def installed_contenders(name: str, rivals: Sequence[str]) -> list[str]:
    """Who takes part in a row of the workload `name`: gradtape, C++ if it can be built, and the rivals installed."""
    from measure import installed

    module = limit.load(name, "")
    found = ["gradtape"]
    if compiler.has_anchor(name) and not compiler.missing():
        found.append("C++")
    for rival in rivals:
        if not installed(rival.partition(".")[0]):
            continue
        if rival == "torch.compile" and not getattr(module, "TORCH_COMPILE", True):
            continue
        found.append(rival)
    return found

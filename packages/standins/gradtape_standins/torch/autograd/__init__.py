"""`torch.autograd`: backward, grad, Function, functional, gradcheck, detect_anomaly, forward_ad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradtape as gt
from gradtape.extend import backward_of, gradients_of, release_saved
from gradtape_standins.missing_names import missing
from gradtape_standins.torch import version_counter
from gradtape_standins.torch.autograd import forward_ad, functional, graph, profiler
from gradtape_standins.torch.autograd.anomaly import detect_anomaly, set_detect_anomaly
from gradtape_standins.torch.autograd.checking import GradcheckError, gradcheck, gradgradcheck
from gradtape_standins.torch.autograd.function import Function
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.grad_fn import tell_savers
from gradtape_standins.torch.hooks import accumulating, gradients_parting
from gradtape_standins.torch.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from gradtape_standins.torch.module_aliases import modules_of
from gradtape_standins.torch.tensor import Tensor, unwrap, wrap

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def _several(given: Any) -> list[Any]:
    return [given] if given is None or isinstance(given, Tensor) else list(given)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves that they were computed from.

    >>> from gradtape_standins import torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    targets = _several(tensors)
    if inputs is not None and not isinstance(inputs, Tensor) and not len(inputs):
        raise _no_inputs("backward")
    seeds = _seeds(targets, _several(grad_tensors) if grad_tensors is not None else [None] * len(targets))
    chosen = None if inputs is None else [x._value for x in _several(inputs)]
    values = [target._value for target in targets]
    done, part = accumulating(create_graph), gradients_parting(create_graph)
    arrived = False
    try:
        with translating():
            version_counter.check(values)
            if values:
                backward_of(values, seeds, retain_graph, create_graph, chosen, release_saved)
        arrived = True
    finally:
        part()
        done(arrived)


def _no_inputs(name: str) -> RuntimeError:
    return RuntimeError(
        f"`inputs` argument to `{name}()` cannot be empty.\n"
        "  fix: the tensors whose gradients are wanted"
        + ("; without the argument, all leaves receive one" if name == "backward" else "")
    )


def _seeds(targets: Sequence[Tensor], given: Sequence[Any]) -> list[Any]:
    """One seed for each target; None stands for 1, where the target is one real number."""
    if len(given) != len(targets):
        raise RuntimeError(
            f"got {len(targets)} tensors and {len(given)} gradients.\n"
            "  fix: one gradient for each tensor, None for those that are one number"
        )
    for target, seed in zip(targets, given, strict=True):
        if seed is None and target.is_complex() and target.requires_grad and target.numel() == 1:
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {target.dtype}.\n"
                "  fix: z.abs().backward() or z.real.backward(), or a gradient for it: z.backward(torch.ones_like(z))"
            )
    return [unwrap(seed) for seed in given]


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of `outputs` with respect to `inputs`; `.grad` is left alone.

    >>> from gradtape_standins import torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(x**2, x)
    (tensor(6.),)
    """
    targets, sources = _several(outputs), _several(inputs)
    if not sources:
        raise _no_inputs("grad")
    given = _several(grad_outputs) if grad_outputs is not None else [None] * len(targets)
    if is_grads_batched:
        return _batched(targets, sources, [unwrap(seed) for seed in given], create_graph, bool(allow_unused))
    seeds = _seeds(targets, given)
    unused = materialize_grads if allow_unused is None else allow_unused
    if not targets and not unused:
        raise RuntimeError(
            "grad: there are no outputs, so that no input was used in the graph.\n"
            "  fix: outputs that were computed from the inputs, or allow_unused=True"
        )
    with translating():
        values = [target._value for target in targets]
        version_counter.check(values)
        nodes = [x._value for x in sources]
        found: list[Any] = gradients_of(values, nodes, seeds, retain_graph, create_graph, unused, release_saved)
        if create_graph:
            tell_savers(found)
    if materialize_grads:
        found = [gt.zeros_like(x._value) if g is None else g for g, x in zip(found, sources, strict=True)]
    return tuple(wrap(found))


def _batched(
    targets: Sequence[Tensor], sources: Sequence[Tensor], seeds: Any, create_graph: bool, unused: bool
) -> tuple[Any, ...]:
    """The gradients for each of a batch of seeds, along a first axis."""
    rows = []
    for index in range(seeds[0].shape[0]):
        with translating():
            values, given = [t._value for t in targets], [seed[index] for seed in seeds]
            rows.append(gt.gradients(values, [x._value for x in sources], given, True, create_graph, unused))
    return tuple(wrap([None if column[0] is None else gt.stack(column) for column in zip(*rows, strict=True)]))


def Variable(data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:
    """A tensor with the same numbers: what variables were before tensors could do everything."""
    made = data.detach()
    return made.requires_grad_() if requires_grad else made


globals().update(modules_of(__name__))
__getattr__ = missing(__name__)

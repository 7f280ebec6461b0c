"""Executes a recorded operation again on copies of its operands: forward, and its gradient by PyTorch's own rules.

Operands are arrays. Nothing that the program has is touched: in-place functions and layers with statistics get copies,
and the state of the random number generator is put back; an operation that draws random numbers draws the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from gradtape.watching.record import Replay
from gradtape.watching.torch.operations import WRITE, Rule, Slot


class Call:
    """A call of a function of PyTorch with its operands left out, to be made again with others."""

    def __init__(
        self,
        func: Callable[..., Any],
        rule: Rule,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        slots: Sequence[Slot],
        random_state: Any = None,
    ) -> None:
        self.func = func
        self.slots = slots
        self.random_state = random_state
        self.writes = rule.what == WRITE
        self.templates = [_template(slot.of(args, kwargs)) for slot in slots]
        held = [slot.key for slot in slots]
        self.args = [_without_tensors(value, index in held) for index, value in enumerate(args)]
        self.kwargs = {name: _without_tensors(value, name in held) for name, value in kwargs.items() if name != "out"}

    def replay(self) -> Replay:
        """Forward and reverse, as detectors use them."""
        return Replay(self.forward, self.reverse)

    def forward(self, inputs: Sequence[Any]) -> Any:
        """The result for other operands, as an array."""
        with self._alone(), torch.no_grad():
            result = self._call([_as_tensor(x, template) for x, template in zip(inputs, self.templates)])
        return array_of_tensor(result) if isinstance(result, torch.Tensor) else None

    def reverse(self, inputs: Sequence[Any], gradient: Any) -> list[Any]:
        """What PyTorch's rule gives each operand for a gradient of the result; of several results, a dictionary."""
        with self._alone(), torch.enable_grad():
            tensors = [_as_tensor(x, template) for x, template in zip(inputs, self.templates)]
            places = [
                index
                for index, tensor in enumerate(tensors)
                if isinstance(tensor, torch.Tensor) and (tensor.is_floating_point() or tensor.is_complex())
            ]
            for index in places:
                tensors[index].requires_grad_()
            result = self._call(tensors)
            pairs = _seeded(result, gradient)
            given: list[Any] = [None] * len(tensors)
            if pairs and places:
                found = torch.autograd.grad(
                    [out for out, _ in pairs], [tensors[i] for i in places], [seed for _, seed in pairs],
                    allow_unused=True,
                )  # fmt: skip
                for index, one in zip(places, found):
                    given[index] = None if one is None else array_of_tensor(one)
        return given

    def _call(self, tensors: Sequence[Any]) -> Any:
        args, kwargs = list(self.args), dict(self.kwargs)
        for slot, tensor in zip(self.slots, tensors):
            holder: Any = args if isinstance(slot.key, int) else kwargs
            if slot.inner is None:
                holder[slot.key] = tensor
            else:
                holder[slot.key] = [*holder[slot.key]]
                holder[slot.key][slot.inner] = tensor
        if not self.writes:
            return self.func(*args, **kwargs)
        args[0] = target = args[0].clone()
        result = self.func(*args, **kwargs)
        return target if result is None or result is NotImplemented else result

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No function mode, and a random number generator that is left as it was."""
        state = torch.random.get_rng_state()
        try:
            with torch._C.DisableTorchFunction():
                if self.random_state is not None:
                    torch.random.set_rng_state(self.random_state)
                yield
        finally:
            torch.random.set_rng_state(state)


def _template(value: Any) -> Any:
    return (value.dtype, value.device) if isinstance(value, torch.Tensor) else type(value)


def _without_tensors(value: Any, is_operand: bool) -> Any:
    """An argument with its tensors replaced: operands by nothing, others by copies that the program cannot change."""
    if isinstance(value, torch.Tensor):
        return None if is_operand else value.detach().clone()
    if isinstance(value, list | tuple) and any(isinstance(each, torch.Tensor) for each in value):
        copied = [_without_tensors(each, is_operand) for each in value]
        return copied if is_operand or isinstance(value, list) else tuple(copied)
    return value


def _as_tensor(x: Any, template: Any) -> Any:
    """A tensor of its own with the value of an array; a number where the program gave one."""
    if not isinstance(template, tuple):
        return np.asarray(x).item() if np.size(x) == 1 else torch.tensor(np.asarray(x))
    dtype, device = template
    return torch.tensor(np.array(x, copy=True), device=device).to(dtype)


def _seeded(result: Any, gradient: Any) -> list[tuple[Any, Any]]:
    """The results that a gradient came back to, with that gradient."""
    outs = [result] if isinstance(result, torch.Tensor) else [*result] if isinstance(result, tuple) else []
    seeds = gradient if isinstance(gradient, dict) else {0: gradient}
    flat = flat_tensors(outs)
    return [
        (flat[part], torch.tensor(np.array(seed, copy=True), device=flat[part].device).to(flat[part].dtype))
        for part, seed in seeds.items()
        if part < len(flat) and flat[part].requires_grad
    ]


def flat_tensors(result: Any) -> list[Any]:
    """The tensors of a result, which may be in tuples and lists."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, tuple | list):
        return [tensor for part in result for tensor in flat_tensors(part)]
    return []


def array_of_tensor(tensor: Any) -> Any:
    """The NumPy array of a tensor, without a copy where NumPy has its type; None where it has no memory."""
    if tensor.layout is not torch.strided or tensor.is_meta:
        return None
    bare = tensor.detach()
    if bare.device.type != "cpu":
        bare = bare.cpu()
    if bare.is_conj() or bare.is_neg():
        bare = bare.resolve_conj().resolve_neg()
    if bare.dtype in _WITHOUT_NUMPY:
        bare = bare.float()
    return bare.numpy()


_WITHOUT_NUMPY = {
    getattr(torch, name)
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
    if hasattr(torch, name)
}

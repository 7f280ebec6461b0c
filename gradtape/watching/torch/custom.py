"""`torch.autograd.Function` of the user's: its records, and whether its backward is the derivative of its forward."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gradtape.core.location import Location, is_library
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.graph.cuts import REENTRANT
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span
from gradtape.explain.source.files import returned_span, span_of
from gradtape.watching.torch.recorder import TorchRecorder, is_plain
from gradtape.watching.torch.replay import flat_tensors
from gradtape.watching.torch.side_effects import is_repeatable

ELEMENTS_AT_MOST = 20_000
ARGUMENTS_AT_MOST = 4
DIRECTIONS_TRIED = 6
DIRECTIONS_NEEDED = 3
STEPS = (1e-5, 1e-6)  # shares of the size of the argument
TOLERANCE = 0.02  # what most directions have to differ by
EXACT = 1e-4  # and what none may agree to
_STEPS = frozenset(
    [
        "round",
        "floor",
        "ceil",
        "trunc",
        "sign",
        "heaviside",
        "bernoulli",
        "rand_like",
        "randn_like",
        "rand",
        "randn",
        "dropout",
        "argmax",
        "argmin",
        "topk",
        "one_hot",
        "multinomial",
    ]
)


class CustomFunctions:
    """The functions with rules of their own that the program has called."""

    def __init__(self, recorder: TorchRecorder) -> None:
        self.recorder = recorder
        self.places: dict[str, tuple[Any, Location]] = {}
        self._waiting: list[tuple[Any, list[Any], Location, weakref.ref[Any]]] = []
        self._judged: set[Any] = set()

    def record(self, cls: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Record a call."""
        tensors = [tensor for tensor in flat_tensors(result) if is_plain(tensor)]
        location = Location.here()
        self.places[cls.__name__] = (cls, location)
        operands = [x for x in args if is_plain(x)]
        if cls.__module__ == "torch.utils.checkpoint" and torch.is_grad_enabled():
            self._record_checkpoint(args, tensors, location)
        if not tensors or not operands or not any(tensor.requires_grad for tensor in tensors):
            return
        first = next(tensor for tensor in tensors if tensor.requires_grad)
        made = self.recorder.operation(cls.__name__, "custom", {}, operands, first, location, None)
        if isinstance(result, torch.Tensor):
            self.recorder.note(first, made)
        else:
            self.recorder.results(made, tensors)
        code, forward = _code_of(cls, "backward"), _code_of(cls, "forward")
        if forward is None or _STEPS & {*forward.co_names}:
            return  # a step function, whose gradient is another one on purpose
        is_small = sum(x.numel() for x in operands) <= ELEMENTS_AT_MOST
        if cls in self._judged or code is None or is_library(code.co_filename) or not is_small or kwargs:
            return
        self._judged.add(cls)
        if not is_repeatable(cls, args):
            return
        copies = [x.detach().clone().requires_grad_(x.requires_grad) if is_plain(x) else x for x in args]
        self._waiting.append((cls, copies, location, weakref.ref(first)))

    def _record_checkpoint(self, args: Any, tensors: list[Any], location: Location) -> None:
        """Record that a reentrant checkpoint of data has cut the parameters of its module off."""
        module = next((x for x in args if isinstance(x, torch.nn.Module)), None)
        if module is None or any(tensor.requires_grad for tensor in tensors):
            return
        learned = [p for p in torch.nn.Module.parameters(module) if p.requires_grad]
        sources = [record for p in learned if (record := self.recorder.record_of(p)) is not None]
        for tensor in tensors if sources else ():
            self.recorder.cut_from(REENTRANT, sources, tensor, location)

    def judge(self, run: Any) -> None:
        """Compare the rules of functions that were called with finite differences, once for each class."""
        waiting, self._waiting = self._waiting, []
        for cls, args, location, _ in waiting:
            found = self._compare(cls, args, location, run)
            if found is not None and is_due("GT320", *found.place[1:]):
                report(found)

    def _compare(self, cls: Any, args: list[Any], location: Location, run: Any) -> Problem | None:
        places = [i for i, x in enumerate(args) if isinstance(x, torch.Tensor) and x.requires_grad]
        places = [i for i in places if args[i].is_floating_point()][:ARGUMENTS_AT_MOST]
        if not places:
            return None
        state = torch.random.get_rng_state()
        try:
            wrong = [index for index in places if _differs(cls, args, index)]
        except Exception:  # the user's function does not take these copies: nothing is known of its rule
            return None
        finally:
            torch.random.set_rng_state(state)
        if not wrong:
            return None
        return problem(
            "GT320",
            f"{cls.__name__}.backward does not return the derivative of its forward"
            + (f", for argument {wrong[0]}" if len(args) > 1 else ""),
            spans=[rule_span(cls), span_of(location).labelled("called here")],
            notes=["compared with finite differences of forward, on copies of what it was called with"],
            consequence="every gradient that passes it is wrong",
            fixes="the derivative of forward times grad_output; torch.autograd.gradcheck(f, inputs in double "
            "precision) compares them",
            intent="gt.explain.configure(GT320='off') if another gradient is meant",
        )


def rule_span(cls: Any) -> Span:
    """The line on which `backward` of a function returns."""
    return returned_span(_code_of(cls, "backward"), "returned here")


def _code_of(cls: Any, name: str) -> Any:
    """The code of a method, below decorators such as `once_differentiable`."""
    return getattr(inspect.unwrap(getattr(cls, name, None)), "__code__", None)  # type: ignore[arg-type]


def _differs(cls: Any, args: list[Any], index: int) -> bool:
    """Whether the rule for one argument differs from finite differences in all directions.

    A direction in which the function has a kink nearby says nothing.
    """
    apply = torch.autograd.Function.apply.__func__
    doubles = [
        x.detach().double().clone() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in args
    ]

    def value(x: Any) -> list[Any]:
        given = [each.clone() if isinstance(each, torch.Tensor) else each for each in doubles]
        given[index] = x
        before = x._version
        outs = [out for out in flat_tensors(apply(cls, *given)) if out.is_floating_point()]
        if x._version != before:
            raise _Changed
        return outs

    with torch.enable_grad():
        source = doubles[index].clone().requires_grad_()
        try:
            outs = value(source)
        except _Changed:
            return False  # it works in place
        if not outs or not any(out.requires_grad for out in outs):
            return False
        if any(out.shape == source.shape and torch.equal(out.detach(), source.detach()) for out in outs):
            return False  # the identity, with another gradient on purpose
        generator = np.random.default_rng(0)
        weights = [torch.tensor(1.0 + generator.random(tuple(out.shape)), dtype=out.dtype) for out in outs]
        tracked = [i for i, out in enumerate(outs) if out.requires_grad]
        (given,) = torch.autograd.grad(
            [outs[i] for i in tracked], source, [weights[i] for i in tracked], allow_unused=True
        )
    if given is None or given.shape != source.shape or not bool(given.isfinite().all()):
        return False
    point = source.detach()
    scale = float(point.abs().mean()) or 1.0
    differences: list[float] = []
    with torch.no_grad():
        for _ in range(DIRECTIONS_TRIED):
            direction = torch.tensor(generator.standard_normal(tuple(point.shape)), dtype=point.dtype)
            slopes = []
            for step in (share * scale for share in STEPS):
                above, below = value(point + step * direction), value(point - step * direction)
                rise = sum(float(((above[i] - below[i]) * weights[i]).sum()) for i in tracked)
                slopes.append(rise / (2 * step))
            size = max(map(abs, slopes))
            if size == 0 or not np.isfinite(size):
                return False
            if abs(slopes[0] - slopes[1]) > 1e-3 * size:
                continue
            ours = float((given * direction).sum())
            differences.append(abs(ours - slopes[1]) / max(size, abs(ours)))
            if differences[-1] <= EXACT:
                return False
            if len(differences) == DIRECTIONS_NEEDED:
                is_wrong = float(np.median(differences)) > TOLERANCE
                return is_wrong and not (len(outs) == 1 and _is_leaky(value, point, given / weights[0], scale))
    return False


def _is_leaky(value: Callable[[Any], list[Any]], point: Any, rule: Any, scale: float) -> bool:
    """Whether a rule, element by element, is the derivative but where that is zero, and there a smaller slope.

    Such a slope is given on purpose, to get out of the flat part of a clamp. One that is as large there as elsewhere is
    that of a rule without its mask.
    """
    above, below = value(point + STEPS[1] * scale)[0], value(point - STEPS[1] * scale)[0]
    if above.shape != rule.shape:
        return False
    slope = (above - below) / (2 * STEPS[1] * scale)
    is_flat = slope == 0
    if not bool(is_flat.any()) or bool(is_flat.all()):
        return False
    steep, leak = rule[~is_flat], rule[is_flat].abs()
    is_right = torch.allclose(steep, slope[~is_flat], rtol=1e-3, atol=1e-6)
    return is_right and bool(leak.max() > 0) and bool(leak.max() < 0.9 * steep.abs().min())


class _Changed(Exception):
    """A function has written to its argument."""


__all__ = ["CustomFunctions", "rule_span"]

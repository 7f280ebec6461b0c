"""Questions about tensors of PyTorch: why a gradient is what it is, and whether examples of a batch are independent.

The recorder of the block that is watching answers, or of the last one that was, with what it has recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from gradtape.core.location import Location
from gradtape.errors import OperandError
from gradtape.explain.detectors import missing_gradient
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Span
from gradtape.explain.model.why import Step, Why
from gradtape.explain.source.files import span_of
from gradtape.explain.source.libraries import recognising
from gradtape.explain.source.parameter_names import name_of
from gradtape.watching.examples import Leak, count_examples, leaks_of, weights_of
from gradtape.watching.meetings import find_meetings
from gradtape.watching.recent_watchers import RecentWatchers
from gradtape.watching.torch.recorder import TorchRecorder, is_plain
from gradtape.watching.torch.untracked import why_untracked

watchers = RecentWatchers()
"""The watchers that answer."""


def why(target: Any, source: Any) -> Why:
    """Why the gradient of `target` with respect to `source`, tensors of PyTorch, is what it is."""
    watcher = watchers.current
    if watcher is None or not (watchers.is_recording or watcher.recorder.has_record(target)):
        raise OperandError(
            "why: nothing was recorded of these tensors of PyTorch.\n  fix: compute them inside `with gt.watch():`, or "
            "run the program with `gradtape run`"
        )
    recorder: TorchRecorder = watcher.recorder
    if not is_plain(target) or not is_plain(source):
        given = next(x for x in (target, source) if not is_plain(x))
        raise OperandError(f"why: {type(given).__name__} is no tensor of PyTorch that is recorded")
    with torch._C.DisableTorchFunction(), recognising(recorder):
        start, goal = recorder.record_of(target), recorder.record_of(source)
        if start is None or goal is None or (not start.is_tracked and start.is_shared):
            found = why_untracked(target, recorder, watcher.calls, Location.here())
            return Why(found or problem("GT203", "no gradient: the target is a constant"))
        if not target.requires_grad:
            found = why_untracked(target, recorder, watcher.calls, Location.here())
            if found is not None:
                return Why(found)
        route = paths.route_back(start, goal, None)
        if route and all(node.is_on(None) for node in route) and not paths.blocked(route):
            steps = tuple(
                Step(node.operation, node.shape, str(node.dtype), node.location, None)
                for node in route[:-1]
                if node.operation
            )
            rows = [f"{step.operation}  {step.shape}  {step.location}   {step.location.source}" for step in steps]
            title = f"the gradient flows: {len(steps)} operations from the target back to the source"
            return Why(problem("", title, spans=(), path=rows), steps)
        if not source.requires_grad:
            return missing_gradient.explain_unwatched_source(target, source, recorder)
        if route:
            return missing_gradient.explain_cut_path(route, recorder)
        departure = paths.departure_of(goal, recorder)
        if departure is not None:
            return missing_gradient.explain_departure(departure)
        name = name_of(source) or "the source"
        spans = [span_of(node.location) for node in (start, goal) if node.location.is_known]
        return Why(
            problem(
                "GT202",
                f"no gradient: the target was not computed from {name}",
                spans=spans,
                fixes=f"compute the target from {name} itself",
            )
        )


# -- examples of a batch


def find_leaks(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], numbers: Sequence[int]
) -> tuple[int, list[Leak], list[Span]]:
    """The number of examples, the pairs that leak (result, example, argument, size), and where they meet."""
    from gradtape.watching.budget import Budget
    from gradtape.watching.torch import Watcher

    given = [
        x.detach().clone().requires_grad_(x.is_floating_point()) if index in numbers and is_plain(x) else x
        for index, x in enumerate(args)
    ]
    sources = [given[index] for index in numbers]
    watcher = Watcher(Budget(seconds=float("inf")), lambda note: None)
    watcher.start()
    try:
        with torch.enable_grad():
            output = function(*given, **kwargs)
        return _search(watcher.recorder, output, sources, numbers)
    finally:
        watcher.stop(keep=False)


def _search(
    recorder: TorchRecorder, output: Any, sources: Sequence[Any], numbers: Sequence[int]
) -> tuple[int, list[Leak], list[Span]]:
    size = count_examples(output, isinstance(output, torch.Tensor), sources)
    leaks: list[Leak] = []
    weights = torch.tensor(weights_of(tuple(output.shape)), dtype=output.dtype)
    wanted = [(number, x) for number, x in zip(numbers, sources) if x.requires_grad]
    for example in range(size if output.requires_grad else 0):
        total = (output[example] * weights[example]).sum()
        found = torch.autograd.grad(total, [x for _, x in wanted], retain_graph=True, allow_unused=True)
        for (number, _), gradient in zip(wanted, found):
            if gradient is not None:
                leaks += leaks_of(example, size, number, gradient.abs().double().cpu(), torch.finfo(gradient.dtype).eps)
    with torch._C.DisableTorchFunction():
        start = recorder.record_of(output)
        held = {recorder.record_of(x): np.array(recorder.array_of(x)) for _, x in wanted}
        places = [] if start is None else find_meetings(start, held, [leak[:2] for leak in leaks])
    return size, leaks, places


__all__ = ["find_leaks", "why"]

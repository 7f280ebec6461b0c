"""Why a parameter has no gradient, or a loss none to give: the paths through the records, and the cuts on them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from gradtape.core.location import Location
from gradtape.explain.detectors.missing_gradient import explain_cut_path, explain_departure
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span, source_edit
from gradtape.explain.model.record import Record
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.files import one_line, source_of, span_of
from gradtape.explain.source.parameter_names import name_of
from gradtape.watching.record import CONSTANT, LeafRecord, OperationRecord, WatchedRecord
from gradtape.watching.torch.recorder import (
    CopiedLeaf,
    KeptTensor,
    TorchCut,
    TorchRecorder,
    is_plain,
)
from gradtape.watching.torch.registration import Registry


class Missing(NamedTuple):
    """Why a parameter has no gradient; if not certain that it is a mistake, it is only noted."""

    problem: Problem
    is_certain: bool


def why_missing(
    parameter: Any, passes: Sequence[Any], recorder: TorchRecorder, calls: Any, registry: Registry
) -> Missing | None:
    """Why the backward passes gave `parameter` no gradient; None if they did, or it is not known."""
    goal = recorder.record_of(parameter)
    if goal is None:
        return None
    if any(leaf is parameter for run in passes for leaf in run.leaves):
        return _why_returned_none(parameter, goal, passes, registry) or _why_cleared(parameter, passes, calls, registry)
    if any(not run.is_whole or not run.is_plain for run in passes):
        return None
    known = registry.find(parameter)
    name = registry.path_of(parameter) or name_of(parameter) or "a parameter"
    by_user = known is None or known.by_user
    for run in reversed(passes):
        for start in run.records:
            route = paths.route_back(start, goal, None)
            if route and not (all(node.is_on(None) for node in route) and not paths.blocked(route)):
                answer = explain_cut_path(route, recorder).problem
                copies = [node for node in route if isinstance(node, CopiedLeaf)]
                if copies:
                    again = span_of(copies[0].location).labelled("and a new leaf is made of it here")
                    is_new = again.line not in [span.line for span in answer.spans]
                    answer = answer.with_(
                        fixes=_copy_fixes(copies[0]), spans=[*answer.spans, *([again] if is_new else [])]
                    )
                cuts = [node for node in route if node.is_cut and not node.joined]
                answer = with_switch(answer, cuts[0] if cuts else None)
                return Missing(_named(answer, name), True)
    departure = paths.departure_of(goal, recorder)
    if departure is not None:
        answer = explain_departure(departure).problem
        return Missing(_named(_with_new_leaf(answer, passes, recorder), name), True)
    if any(start.operation and _is_opaque(start) for run in passes for start in run.records):
        return None
    asked = passes[-1].location
    found = problem(
        "GT202",
        f"no gradient for {name}: what backward() was called on was not computed from it",
        spans=[span_of(asked).labelled("does not reach it"), *_made_spans(parameter, name, known, recorder)],
        consequence="the optimiser has it and never changes it",
        fixes=f"use {_used_as(name)} where the loss is computed; or leave it out",
        intent="gt.explain.configure(GT202='off')",
    )
    return Missing(found, by_user and not _has_used_siblings(known, passes, registry))


def _made_spans(parameter: Any, name: str, known: Any, recorder: TorchRecorder) -> list[Span]:
    """Where a parameter was made: by a layer, by a function of PyTorch, or as the source binds its name."""
    if known is not None and known.location.is_known:
        return [span_of(known.location).labelled("made here")]
    place = recorder.made_at(parameter)
    if place is not None:
        return [span_of(place).labelled("made here")]
    bound = UserExpression.present().binding(ast.Name(name)) if name.isidentifier() else None
    return [] if bound is None or bound.label else [bound.labelled("made here")]


def _with_new_leaf(found: Problem, passes: Sequence[Any], recorder: TorchRecorder) -> Problem:
    """The problem of numbers that left, with the tensor that `backward` was called on, if that was made of numbers.

    Then an edit where they left is not enough: the new tensor has no history in any case.
    """
    starts = [start for run in passes for start in run.records]
    targets = [start for start in starts if isinstance(start, LeafRecord) and start.location.is_known]
    if not targets or len(targets) != len(starts):
        return found
    again = span_of(targets[-1].location).labelled("and a new tensor is made of numbers here")
    return found.with_(
        spans=[*found.spans, *([again] if again.line not in [span.line for span in found.spans] else [])],
        fixes=[Fix("keep the tensors: total = total + loss, without .item() and without torch.tensor() of the sum")],
    )


def _used_as(name: str) -> str:
    """What a program uses of a parameter: `Net.fc` of `Net.fc.weight`, but `self.scale` of `Net.scale`."""
    owner, _, own = name.rpartition(".")
    return f"self.{own}" if owner and "." not in owner else owner or name


def _why_returned_none(
    parameter: Any, goal: WatchedRecord, passes: Sequence[Any], registry: Registry
) -> Missing | None:
    """The rule of the user's that returned None for a parameter, or for what was computed from it."""
    if parameter.grad is not None:
        return None
    for run in reversed(passes):
        for start in run.records:
            for record in reversed(paths.route_back(start, goal, None) or ()):
                if not isinstance(record, OperationRecord) or record.kind != "custom" or not record.location.is_known:
                    continue
                name = registry.path_of(parameter) or name_of(parameter) or "a parameter"
                found = problem(
                    "GT320",
                    f"no gradient for {name}: {record.operation}.backward returns None for it",
                    spans=[
                        span_of(record.location).labelled("called here"),
                        span_of(run.location).labelled("gives it no gradient"),
                    ],
                    consequence="the optimiser has it and never changes it",
                    fixes="return the derivative by each argument that is learned: (grad_output * x).sum() for a "
                    "number that x was multiplied with, say; None is for arguments without one",
                )
                return Missing(found, True)
    return None


def _why_cleared(parameter: Any, passes: Sequence[Any], calls: Any, registry: Registry) -> Missing | None:
    """The gradient of a parameter was there, and was cleared before the step that should have used it."""
    known = calls.cleared.get(id(parameter))
    if parameter.grad is not None or known is None or known[0]() is not parameter or not known[1].is_known:
        return None
    run = next((run for run in reversed(passes) if any(leaf is parameter for leaf in run.leaves)), None)
    if run is None or not run.accumulates:
        return None
    name = registry.path_of(parameter) or name_of(parameter) or "a parameter"
    found = problem(
        "GT512",
        f"the gradient of {name} is cleared between backward() and the step",
        spans=[span_of(known[1]).labelled("cleared here"), span_of(run.location).labelled("computed here")],
        consequence="the optimiser has it and never changes it",
        fixes="zero_grad() before the first backward() of a step, or after the step; not between two backward passes",
    )
    return Missing(found, True)


def why_frozen(
    parameters: Sequence[Any], used: dict[int, Location], calls: Any, name: str, made: Location | None
) -> Problem | None:
    """The problem of an optimiser all of whose parameters were frozen, if the losses were computed with them."""
    known = [calls.frozen.get(id(p)) for p in parameters]
    where = next((entry[1] for entry, p in zip(known, parameters) if entry is not None and entry[0]() is p), None)
    if where is None or not where.is_known:
        return None
    passed = next((used[id(p)] for p in parameters if id(p) in used), None)
    if passed is None:
        return None
    return problem(
        "GT212",
        f"no gradient: all {len(parameters)} parameters of this {name} are frozen",
        spans=[
            span_of(where).labelled("frozen here"),
            *([] if made is None else [span_of(made).labelled("the optimiser is made here")]),
            span_of(passed).labelled("gives them none"),
        ],
        consequence="the optimiser changes nothing, although the loss is computed with them",
        fixes="requires_grad_(False) for the layers only that are not to be learnt",
        intent="leave the optimiser out",
    )


def frozen_behind(starts: Sequence[Record], calls: Any) -> set[int]:
    """The tensors that were frozen and that targets were computed with, by their identity."""
    places: dict[int, int] = {}
    for key, (reference, _) in calls.frozen.items():
        tensor = reference()
        if tensor is not None and is_plain(tensor) and tensor.numel():
            places[tensor.data_ptr()] = key
    found: set[int] = set()
    reached: dict[Record, None] = {}
    for start in starts if places else ():
        paths.all_behind(start, reached)
    for record in reached:
        for kept in record.inputs if isinstance(record, OperationRecord) else ():
            if isinstance(kept, KeptTensor) and kept.bare.data_ptr() in places:
                found.add(places[kept.bare.data_ptr()])
    return found


def is_copy_of(copy: Any, goal: Record) -> bool:
    """Whether a leaf was made of the numbers of another one, changed element by element at most."""
    record: Any = copy.copied_from if isinstance(copy, CopiedLeaf) and copy is not goal else None
    for _ in range(8):
        if record is None or record is goal or record is CONSTANT:
            break
        if record.operation and (record.is_tracked or len(record.parents) != 1):
            return False
        record = next(iter(record.origins()), None)
    return record is goal and not goal.is_shared


def _copy_fixes(leaf: CopiedLeaf) -> list[Fix]:
    """The edit that keeps the history, or what to write instead of a new leaf."""
    if not leaf.is_parameter:
        return [Fix(_copy_advice(leaf))]
    site = site_at(leaf.location)
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    edits: list[Fix] = []
    if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        text = one_line(site.source.text(call.args[0]))
        is_atom = isinstance(call.args[0], ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        edits = [source_edit(text if is_atom else f"({text})", site.source.span(call))]
    return [*edits, Fix("make the Parameter once, in __init__, and compute with it in forward")]


def _copy_advice(leaf: CopiedLeaf) -> str:
    """What to write instead of a new leaf that has the numbers of what was computed."""
    cut = leaf.copied_from
    if cut is not None and cut.reason == ".data" and cut.location is leaf.location:
        return (
            "compute with the tensor itself: torch.nn.functional.linear(x, weight), or "
            "torch.func.functional_call(layer, {'weight': weight}, (x,))"
        )
    if cut is not None and cut.reason == "gt.tensor()":
        return "keep the tensors instead of their numbers: torch.stack(losses).mean()"
    return "use the tensor itself: a leaf that is made of its numbers has no history"


def with_switch(found: Problem, cut: Record | None) -> Problem:
    """The problem of what was computed without gradients, with the place first where they were switched off."""
    place = switch_span(cut)
    if place is None or any((place.file, place.line) == (span.file, span.line) for span in found.spans):
        return found
    computed = [span if span.label else span.labelled("computed here") for span in found.spans]
    return found.with_(spans=[place.labelled("gradients are switched off here"), *computed])


def switch_span(cut: Record | None) -> Span | None:
    """Where gradients were switched off for what was computed at a cut: the block, or the decorator of a function."""
    switch = cut.switched if isinstance(cut, TorchCut) and cut.reason == "no_grad" else None
    if switch is None:
        return None
    place = _decorator_span(switch.function)
    if place is None and switch.function is None and switch.location.is_known:
        place = span_of(switch.location)
    return place


def _decorator_span(function: Any) -> Span | None:
    """The decorator of a function."""
    code = getattr(function, "__code__", None)
    source = None if code is None else source_of(code.co_filename)
    if code is None or source is None or source.tree is None:
        return None
    for node in ast.walk(source.tree):
        is_named = isinstance(node, ast.FunctionDef) and node.name == code.co_name
        if is_named and node.decorator_list and node.decorator_list[0].lineno == code.co_firstlineno:  # type: ignore[attr-defined]
            return source.span(node.decorator_list[0])  # type: ignore[attr-defined]
    return None


def _has_used_siblings(known: Any, passes: Sequence[Any], registry: Registry) -> bool:
    """Whether a layer stands in a list or dictionary of layers of which others were used: experts, stages."""
    module = None if known is None else known.module()
    parents = registry.parents()
    used = {id(leaf) for run in passes for leaf in run.leaves}
    for _ in range(8):
        above = parents.get(id(module))
        if module is None or not above:
            return False
        container = above[0][1]
        if isinstance(container, torch.nn.ModuleList | torch.nn.ModuleDict):
            return any(id(p) in used for p in torch.nn.Module.parameters(container))
        module = container
    return False


def why_not_kept(tensor: Any, recorder: TorchRecorder) -> Problem | None:
    """Why the `.grad` of a tensor that was computed is None."""
    record = recorder.record_of(tensor)
    if record is None or not record.operation:
        return None
    asked = UserExpression.present()
    name = name_of(tensor, asked) or "this tensor"
    spans = [asked.span.labelled("read here")]
    fixes: list[str] = []
    if record.location.is_known:
        spans.insert(0, span_of(record.location).labelled(f"{name} is the result of {record.operation}"))
        fixes = [*_leaf_last(site_at(record.location))]
    return problem(
        "GT205",
        f"no gradient: {name} is a computed tensor, and .grad is kept for the leaves it was computed from",
        spans=spans,
        fixes=[
            *fixes,
            f"make the leaf the last step: (data * 0.1).requires_grad_(); or {name}.retain_grad() before backward",
        ],
    )


def in_place_update(site: UserExpression, is_inside: bool) -> list[Fix]:
    """`w -= 0.1 * w.grad` for `w = w - 0.1 * w.grad`, which makes a new tensor; in no_grad, if it is not inside."""
    statement = None if site.node is None else site.source.statement(site.node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
        return []
    target, value = statement.targets[0], statement.value
    symbol = {ast.Add: "+", ast.Sub: "-"}.get(type(value.op))
    same = isinstance(target, ast.Name | ast.Attribute) and site.source.text(value.left) == site.source.text(target)
    if symbol is None or not same or len(statement.targets) != 1:
        return []
    text = f"{site.source.text(target)} {symbol}= {one_line(site.source.text(value.right))}"
    prefix = next((name for name, module in site.source.imports.items() if module == "torch"), "torch")
    written = text if is_inside else f"with {prefix}.no_grad(): {text}"
    return [source_edit(written, site.source.span(statement))]


def _leaf_last(site: UserExpression) -> list[Fix]:
    """`(torch.randn(3) * 0.1).requires_grad_()` for `torch.randn(3, requires_grad=True) * 0.1`."""
    if updated := in_place_update(site, is_inside=False):
        return updated
    statement = None if site.node is None else site.source.statement(site.node)
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign) or not isinstance(value, ast.BinOp | ast.Call):
        return []
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    marked = [(call, k) for call in calls for k in call.keywords if k.arg == "requires_grad"]
    span = site.source.span(value)
    if len(marked) != 1 or "\n" in span.text:
        return []
    call, keyword = marked[0]
    rest = [site.source.text(argument) for argument in call.args]
    rest += [f"{k.arg}={site.source.text(k.value)}" for k in call.keywords if k is not keyword and k.arg]
    plain = f"{site.source.text(call.func)}({', '.join(rest)})"
    text = replace_span(span, site.source.span(call), plain)
    if text is None:
        return []
    return [
        source_edit(f"({text}).requires_grad_()" if isinstance(value, ast.BinOp) else f"{text}.requires_grad_()", span)
    ]


def _is_opaque(start: WatchedRecord) -> bool:
    """Whether something behind a target was not seen being computed."""
    return any(
        isinstance(record, OperationRecord) and record.location.code is None for record in paths.all_behind(start)
    )


def _named(found: Problem, name: str) -> Problem:
    """The problem with the name of the parameter in its title."""
    return found.with_(title=found.title.replace("no gradient:", f"no gradient for {name}:", 1))


__all__ = ["Missing", "why_missing"]

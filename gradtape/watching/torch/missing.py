"""Why a parameter has no gradient, or a loss none to give: the paths through the records, and the cuts on them."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from gradtape.core.location import Location
from gradtape.explain.detectors.detached_value import reads_departure
from gradtape.explain.detectors.missing_gradient import explain_cut_path, explain_departure, verdict
from gradtape.explain.graph import paths
from gradtape.explain.graph.cuts import code_of, cut_words, first_of, fix_for
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span
from gradtape.explain.model.record import Record, SourceLocation
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.files import one_line, source_of, span_of
from gradtape.explain.source.parameter_names import name_of
from gradtape.watching.record import CONSTANT, OperationRecord, WatchedRecord
from gradtape.watching.torch.recorder import (
    CopiedLeaf,
    KeptTensor,
    TorchCut,
    TorchRecorder,
    is_plain,
    is_same_statement,
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
                        fixes=[Fix(_copy_advice(copies[0]))], spans=[*answer.spans, *([again] if is_new else [])]
                    )
                cuts = [node for node in route if node.is_cut and not node.joined]
                answer = _with_switch(answer, cuts[0] if cuts else None)
                return Missing(_named(answer, name), True)
    departure = paths.departure_of(goal, recorder)
    if departure is not None:
        return Missing(_named(explain_departure(departure).problem, name), True)
    if any(start.operation and _is_opaque(start) for run in passes for start in run.records):
        return None
    asked = passes[-1].location
    made: list[Span] = []
    if known is not None and known.location.is_known:
        made = [span_of(known.location).labelled("made here")]
    elif goal.location.is_known:
        made = [span_of(goal.location).labelled("made here")]
    found = problem(
        "GT202",
        f"no gradient for {name}: what backward() was called on was not computed from it",
        spans=[span_of(asked).labelled("does not reach it"), *made],
        consequence="the optimiser has it and never changes it",
        fixes=f"use {_used_as(name)} where the loss is computed; or leave it out",
        intent="gt.explain.configure(GT202='off')",
    )
    return Missing(found, by_user and not _has_used_siblings(known, passes, registry))


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


def _with_switch(found: Problem, cut: Record | None) -> Problem:
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
    return [Fix(written, True, site.source.span(statement))]


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
        Fix(f"({text}).requires_grad_()" if isinstance(value, ast.BinOp) else f"{text}.requires_grad_()", True, span)
    ]


def _is_opaque(start: WatchedRecord) -> bool:
    """Whether something behind a target was not seen being computed."""
    return any(
        isinstance(record, OperationRecord) and record.location.code is None for record in paths.all_behind(start)
    )


def _named(found: Problem, name: str) -> Problem:
    """The problem with the name of the parameter in its title."""
    return found.with_(title=found.title.replace("no gradient:", f"no gradient for {name}:", 1))


# -- a target without a history


def why_untracked(
    target: Any, recorder: TorchRecorder, calls: Any, location: SourceLocation, registry: Registry | None = None
) -> Problem | None:
    """Why a target requires no gradient: where what it was computed from has left the graph."""
    if not is_plain(target):
        return None
    start = recorder.record_of(target)
    if start is None:
        return None
    asked = span_of(location)
    reached = paths.all_behind(start)
    cuts = [record for record in reached if isinstance(record, TorchCut) or (record.is_cut and not record.joined)]
    cut = _nearest_cut(start)
    if cut is not None:
        first = first_of(cut)
        words = cut_words(first, "")
        updated = in_place_update(site_at(first.location), is_inside=True) if first.reason == "no_grad" else []
        answer = verdict(code_of(first), words, first, fix=[*updated, fix_for(first, is_tape=False)]).problem
        return _with_switch(answer.with_(spans=[*answer.spans, asked.labelled("asked for here")]), first)
    chosen = _why_chosen(reached, asked)
    if chosen is not None:
        return chosen
    late = _used_tensor(reached, calls.required)
    if late is not None:
        used, where = late
        return problem(
            "GT204",
            "no gradient: the tensor was used before it required a gradient",
            spans=[span_of(where).labelled("required from here on"), span_of(used.location).labelled("used before")],
            fixes="x.requires_grad_() before it is used for the first time",
        )
    frozen = _used_tensor(reached, calls.frozen)
    if frozen is not None:
        used, where = frozen
        return problem(
            "GT212",
            "no gradient: every parameter that it was computed from is frozen",
            spans=[span_of(where).labelled("frozen here"), asked.labelled("asked for here")],
            fixes="requires_grad_(False) for the layers only that are not to be learnt; or freeze before the new "
            "layer is put in its place",
        )
    if cuts:
        return None
    made_frozen = _why_made_frozen(reached, asked, registry)
    if made_frozen is not None:
        return made_frozen
    departure = _find_departure(reached, recorder)
    spans = [asked]
    notes: list[str] = []
    if departure is not None:
        answer = explain_departure(departure).problem
        return answer.with_(spans=[*answer.spans, asked.labelled("asked for here")])
    constant = why_constant(reached, asked)
    if constant is not None:
        return constant
    return problem(
        "GT305",
        "backward: this was computed from tensors that require no gradient",
        spans=[*spans, *([span_of(start.location).labelled("computed here")] if start.location.is_known else [])],
        notes=notes,
        fixes="requires_grad_() for what you want the gradient of, before it is used: parameters of a module have it",
    )


def _why_chosen(reached: dict[Record, None], asked: Span) -> Problem | None:
    """What a model computed is only used to pick elements, such as the reward of a sampled action."""
    for record in reached:
        for index in getattr(record, "chosen_by", ()):
            cut = _nearest_cut(index)
            if cut is None or not record.location.is_known:
                continue
            first = first_of(cut)
            is_sample = "sample(" in span_of(first.location).text
            return problem(
                code_of(first),
                "no gradient: the loss depends on the model only through the positions that were picked with it",
                spans=[
                    span_of(first.location).labelled("drawn here" if is_sample else cut_words(first, "")),
                    span_of(record.location).labelled("picks elements with it"),
                    asked.labelled("asked for here"),
                ],
                consequence="an integer does not move in small steps, so that a position has no derivative",
                fixes="the logarithm of the probability of what was drawn carries the gradient: "
                "-(distribution.log_prob(action) * reward).mean()"
                if is_sample
                else "compute with the probabilities: (probabilities * values).sum(dim=1); or gumbel_softmax",
            )
    return None


def _why_made_frozen(reached: dict[Record, None], asked: Span, registry: Registry | None) -> Problem | None:
    """Parameters that were made without a gradient, such as those of `Embedding.from_pretrained`."""
    if registry is None:
        return None
    held = registry.frozen_parameters()
    for record in reached:
        for kept in record.inputs if isinstance(record, OperationRecord) else ():
            known = held.get(kept.bare.data_ptr()) if isinstance(kept, KeptTensor) and kept.bare.numel() else None
            if known is None or not known.location.is_known:
                continue
            made = span_of(known.location)
            site = site_at(known.location)
            call = site.node
            is_pretrained = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "from_pretrained"
            fixes: list[str] = []
            if is_pretrained and isinstance(call, ast.Call) and not any(k.arg == "freeze" for k in call.keywords):
                span = site.source.span(call)
                if len(call.args) < 2 and "\n" not in span.text:
                    fixes = [Fix(f"{one_line(span.text)[:-1]}, freeze=False)", True, span)]
            return problem(
                "GT212",
                f"no gradient: {known.name} is a parameter that was made with requires_grad=False",
                spans=[made.labelled("frozen from the start"), asked.labelled("asked for here")],
                fixes=[*fixes, "from_pretrained(..., freeze=False), or requires_grad_(True) for what is to be learnt"],
            )
    return None


def why_constant(reached: dict[Record, None], asked: Span) -> Problem | None:
    """The tensor that a target was computed from, and that was meant to require a gradient.

    It is the only one of floating point numbers; or one whose `requires_grad` was misspelled, or compared.
    """
    frame = UserExpression.present().frame
    held: dict[str, Any] = {} if frame is None else {**frame.f_globals, **frame.f_locals}
    used = {
        kept.bare.data_ptr()
        for record in reached
        if isinstance(record, OperationRecord)
        for kept, parent in zip(record.inputs, record.parents)
        if isinstance(kept, KeptTensor) and kept.bare.numel() and parent is CONSTANT
    }
    found = {
        name: value
        for name, value in held.items()
        if is_plain(value) and value.is_floating_point() and value.numel() and value.data_ptr() in used
        and not value.requires_grad
    }  # fmt: skip
    site = UserExpression.present()
    for name, tensor in found.items():
        statement = _unread_setting(name, tensor, site)
        if statement is not None:
            text = one_line(site.source.text(statement))
            return problem(
                "GT203",
                f"no gradient: {name} requires none, and {text} does not set requires_grad",
                spans=[site.source.span(statement), asked.labelled("asked for here")],
                fixes=[Fix(f"{name}.requires_grad = True", True, site.source.span(statement))],
            )
    if len(found) != 1 or len(used) != 1:
        return None
    name = next(iter(found))
    made = [span.labelled("made here") for part in [ast.Name(name)] if (span := site.binding(part)) is not None]
    return problem(
        "GT203",
        f"no gradient: {name}, all that this was computed from, requires none",
        spans=[asked, *made],
        fixes=f"{name}.requires_grad_() before it is used; parameters of a module have it",
    )


def _unread_setting(name: str, tensor: Any, site: UserExpression) -> ast.stmt | None:
    """A statement that was meant to set `requires_grad` of a tensor.

    `x.require_grad = True`, `x.requires_grad == True`, or `x.requires_grad_` without its parentheses.
    """
    attributes = getattr(tensor, "__dict__", {})
    similar = {*difflib.get_close_matches("requires_grad", [*attributes], cutoff=0.8)}
    for node in [] if site.source.tree is None else ast.walk(site.source.tree):
        part: Any = None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            part = node.targets[0] if node.targets[0].attr in similar else None
        elif isinstance(node, ast.Expr):
            part = node.value.left if isinstance(node.value, ast.Compare) else node.value
            part = (
                part if isinstance(part, ast.Attribute) and part.attr in ("requires_grad", "requires_grad_") else None
            )
        if part is not None and isinstance(node, ast.stmt) and getattr(part.value, "id", "") == name:
            return node
    return None


def _find_departure(reached: dict[Record, None], recorder: TorchRecorder) -> Record | None:
    """The departure of a value that a target was computed from, as far as the source shows."""
    site = UserExpression.present()
    part, _ = site.asked()
    places = [record.location for record in reached if record.location.is_known]
    for cut in reversed(recorder.departures):
        if any(is_same_statement(cut.location, place) for place in places):
            return cut
        if part is not None and reads_departure(site, part, cut):
            return cut
    return None


def _nearest_cut(start: Record) -> Record | None:
    """The cut that is fewest operations before `start`."""
    seen, level = {start}, [start]
    while level:
        for record in level:
            if record.is_cut and record is not CONSTANT:
                return record
        following: list[Record] = []
        for record in level:
            for origin in record.origins():
                if origin not in seen:
                    seen.add(origin)
                    following.append(origin)
        level = following
    return None


def _used_tensor(reached: dict[Record, None], table: dict[int, Any]) -> tuple[Record, Location] | None:
    """The operation that read one of the tensors in `table`, by their memory, and the place noted there."""
    places: dict[int, Location] = {}
    for reference, where in table.values():
        tensor = reference()
        if tensor is not None and is_plain(tensor) and tensor.numel():
            places[tensor.data_ptr()] = where
    for record in reached:
        for kept in record.inputs if isinstance(record, OperationRecord) else ():
            if isinstance(kept, KeptTensor) and kept.bare.numel() and kept.bare.data_ptr() in places:
                return record, places[kept.bare.data_ptr()]
    return None


__all__ = ["Missing", "why_missing", "why_untracked"]

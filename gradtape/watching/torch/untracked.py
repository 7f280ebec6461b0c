"""Why a target of `backward` requires no gradient: where what it was computed from has left the graph."""

from __future__ import annotations

import ast
import difflib
from typing import Any

from gradtape.core.location import Location
from gradtape.explain.detectors.missing_gradient import explain_departure, verdict
from gradtape.explain.detectors.value_flow import reads_departure
from gradtape.explain.graph import paths
from gradtape.explain.graph.cuts import code_of, cut_words, first_of, fix_for
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span, source_edit
from gradtape.explain.model.record import Record, SourceLocation
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.watching.record import CONSTANT, OperationRecord
from gradtape.watching.torch.missing import in_place_update, with_switch
from gradtape.watching.torch.recorder import KeptTensor, TorchCut, TorchRecorder, is_plain, is_same_statement
from gradtape.watching.torch.registration import Registry


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
        return with_switch(answer.with_(spans=[*answer.spans, asked.labelled("asked for here")]), first)
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
                    fixes = [source_edit(f"{one_line(span.text)[:-1]}, freeze=False)", span)]
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
                fixes=[source_edit(f"{name}.requires_grad = True", site.source.span(statement))],
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


__all__ = ["why_constant", "why_untracked"]

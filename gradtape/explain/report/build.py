"""Builds the report of a tape: facts of the gradient that was requested, and the problems about its lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.graph import Node
from gradtape.core.pytree import leaves
from gradtape.core.tensor import Tensor
from gradtape.explain.emit import policy
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.queries.coverage import recorded_nodes
from gradtape.explain.queries.why import why
from gradtape.explain.report.facts import Facts, collect, live_tensors
from gradtape.explain.report.names import name_of
from gradtape.explain.report.page import Report
from gradtape.explain.report.paths import names_of_sources
from gradtape.explain.report.script import facts_collected_at
from gradtape.source_names import name_of_file

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape

REASONS_SOUGHT = 20  # so many sources without a gradient get a reason

WAYS_OUT = (
    "To see them: make the tape with gt.GradientTape(persistent=True); or call tape.report(path, target, sources) "
    "instead of, or before, tape.gradient; or run the script with gradtape run script.py --report report.html."
)


def of_tape(tape: GradientTape, target: Any = None, sources: Any = None) -> Report:
    """The report of `tape`: of the target and sources given, else of the last request.

    Without any request it is the gradient of the last recorded tensor, for everything that the tape watched.
    """
    missing = ""
    seeds: list[tuple[Node, Any]]
    if target is None:
        nodes, wanted = _last_request(tape)
        if not nodes and tape._spent is None:
            nodes = recorded_nodes(tape)[-1:]
            if nodes:
                missing = (
                    f"No gradient was asked for yet. This is the way from {name_of(nodes[0].location)}, the last that "
                    "the tape recorded, to all that it watched."
                )
        seeds = [(node, np.ones(node.shape, node.dtype)) for node in nodes]
    else:
        seeds = tape._seeds(target, None)
        wanted = []
    if sources is not None:
        wanted = tape._source_nodes(sources)
    elif not wanted:
        wanted = list({**tape._variables, **tape._watched})
    given = [t for t in (*leaves(target), *leaves(sources)) if isinstance(t, Tensor)]
    names = {} if sources is None else names_of_sources(wanted, sources)
    names |= {node: variable.name for node, variable in tape._variables.items() if variable.name}
    seeds = seeds or [(node, None) for node, _, _ in tape._remembered[:1]]
    facts = _facts(tape, seeds, wanted, names)
    if not seeds and tape._spent is None:
        facts.sized = False
        missing = (
            "Nothing that this tape recorded is alive any more: keep the target under a name, or pass it: "
            "tape.report(path, target, sources)."
        )
    facts.missing = facts.missing or missing
    tensors = {**live_tensors(), **{tensor._node: tensor for tensor in (*tape._variables.values(), *given)}}
    reasons = find_reasons(facts, seeds, wanted, tape.mask, tape, tensors)
    lines = {(place.location.file, place.location.line) for place in facts.places.values()}
    said = {found.place: found for found in (*policy.recent, *policy.notes()) if found.main is not None}  # the latest
    reported = [found for found in said.values() if found.place[1:3] in lines]
    return Report(_title(facts, seeds), [facts], merge_problems(reported, reasons))


def _last_request(tape: GradientTape) -> tuple[list[Node], list[Node]]:
    """The targets and sources of the last request, as far as they are alive."""
    for targets, sources in reversed(tape._asked):
        alive = [node for node in (reference() for reference in targets) if node is not None]
        if alive:
            return alive, [node for node in (reference() for reference in sources) if node is not None]
    return [], []


def _facts(tape: GradientTape, seeds: list[tuple[Node, Any]], wanted: list[Node], names: dict[Node, str]) -> Facts:
    spent = tape._spent
    if spent is None:
        return collect(seeds, tape.mask, wanted, tape._boundary, names=names, others=recorded_nodes(tape))
    collected = facts_collected_at(spent)
    if collected is not None:
        return collected
    # a spent tape keeps the bare structure, for `why`, where the gradient was None
    for node, parents, bits in tape._remembered:
        node.parents, node.bits = parents, bits
    try:
        facts = collect(seeds, tape.mask, wanted, tape._boundary, asked=spent, names=names, sized=False)
    finally:
        for node, _, _ in tape._remembered:
            node.parents, node.bits = (), node.bits & ~tape.bit
    facts.missing = (
        f"This tape is not persistent: what it recorded was freed by the gradient taken at {spent}, so "
        f"{'the sizes of the gradient are' if tape._remembered else 'the graph and the gradients are'} not known here. "
        + WAYS_OUT
    )
    return facts


def find_reasons(
    facts: Facts,
    seeds: Sequence[tuple[Node, Any]],
    wanted: Sequence[Node],
    mask: int,
    tape: GradientTape | None,
    tensors: Mapping[Node, Tensor],
    may_walk: bool = True,
) -> list[Problem]:
    """Problems that the report finds itself: why a source has no gradient (also set as its reason), where a NaN arose.

    Explaining a zero gradient takes a backward pass, which calls custom rules: only done with `may_walk`.
    """
    found: list[Problem] = []
    by_order = {node.order: node for node in wanted}
    sought = 0
    for source in facts.sources:
        gradient = source.gradient
        if not seeds or (gradient is not None and (gradient.bad or gradient.norm > 0)) or sought >= REASONS_SOUGHT:
            continue
        if (not facts.sized and not facts.edges) or (gradient is not None and not may_walk):
            continue
        sought += 1
        node = next((node for node in by_order.values() if _key_of(node) == source.key), None)
        if node is None:
            continue
        target, asked = [tensors[n] if n in tensors else _tensor_at(n) for n in (seeds[0][0], node)]
        answer = tape.why(target, asked) if tape is not None else why(target, asked, mask)
        if answer.code and answer.code != "GT308" and (gradient is not None or not answer.path):
            source.reason = answer.problem
            if gradient is None:
                found.append(answer.problem)
    for place in facts.places.values():
        if place.birth:
            way = "forward" if place.birth == "forward" else "backward"
            found.append(
                problem(
                    "GT401" if way == "forward" else "GT402",
                    f"{place.name} turned finite numbers into NaN or infinity"
                    + ("" if way == "forward" else " on the way back"),
                    spans=[place.location],
                )
            )
    return found


def merge_problems(reported: Iterable[Problem], own: Iterable[Problem]) -> list[Problem]:
    """The problems that were reported, and those of the report's own that are not among them."""
    result = list(reported)
    for each in own:
        numeric = each.code in ("GT401", "GT402")
        said = any(
            (numeric and other.code.startswith("GT40")) or (each.code in other.codes and _lines(each) & _lines(other))
            for other in result
        )
        if not said:
            result.append(each)
    return result


def _lines(found: Problem) -> set[tuple[str, int]]:
    return {(span.file, span.line) for span in found.spans} or {("", 0)}


def _key_of(node: Node) -> Any:
    return ("leaf", node.order) if node.op is None else (id(node.code), node.offset, node.op.name)


def _tensor_at(node: Node) -> Tensor:
    """A tensor at `node`, where the user's own is not known: of its shape and dtype; the numbers do not matter."""
    return Tensor(np.broadcast_to(np.zeros((), node.dtype), node.shape), node)


def _title(facts: Facts, seeds: Sequence[tuple[Node, Any]]) -> str:
    location = seeds[0][0].location if seeds else facts.asked
    if location is None or not location.line:
        return "Gradient"
    return name_of_file(location.file)

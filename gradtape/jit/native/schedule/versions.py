"""The versions of arrays that are written to: which of them share one memory.

Each write makes a new version of an array. It takes over the memory of the version before if nothing reads that later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradtape.jit.native.lower.ir import SCATTER_ADD, WRITE, ArrayValue
from gradtape.jit.native.schedule.steps import CallStep, Nest

if TYPE_CHECKING:
    from gradtape.jit.native.schedule.fusion import FusionPlan


def find_links(plan: FusionPlan) -> dict[ArrayValue, ArrayValue]:
    """The results of writes, and of loops that write in place, with the memory of what they are versions of."""
    links: dict[ArrayValue, ArrayValue] = {}
    for instruction in plan.instructions:
        if instruction.name == WRITE:
            links[instruction.results[0]] = plan.layouts[instruction.values[1]].root
        elif instruction.name == SCATTER_ADD and len(instruction.values) == 3:
            *others, base = [plan.layouts[value].root for value in instruction.values]
            if base not in others:  # x[[1, 0]] = x reads the old version while it writes the new one
                links[instruction.results[0]] = base
        elif instruction in plan.bodies:
            body, loop = plan.bodies[instruction], instruction.params["loop"]
            roots = [plan.layouts[value].root for value in instruction.values]
            carried = instruction.results[: loop.carried]  # what is carried may be stacked as well
            carries = zip(carried, loop.body.inputs, loop.body.outputs, roots, strict=False)
            links |= {
                result: root
                for result, value, output, root in carries
                if body.in_place.get(output) is value and roots.count(root) == 1
            }
    return links


def merge_versions(plan: FusionPlan, owned: Sequence[ArrayValue]) -> None:
    """Give the versions of an output one memory, back to the first one that nothing else needs.

    `owned` are the inputs in whose memory the first outputs, as many, may be: the values that a loop carries.
    """
    carried = plan.outputs[: len(owned)]
    first: dict[ArrayValue, int] = {}
    last: dict[ArrayValue, int] = {}
    read: dict[ArrayValue, int] = {}  # the last step that reads a value other than to make a new version of it
    for number, step in enumerate(plan.steps):
        others, used = _uses(plan, step)
        read.update(dict.fromkeys(others, number))
        last.update(dict.fromkeys(used, number))
        for value in used:
            first.setdefault(value, number)
    unmoved = {*plan.aliases, *plan.aliases.values()}
    free = set(plan.temporaries)
    for output in plan.written:
        value = output
        while value in plan.links and value not in unmoved:
            base = plan.links[value]
            if last.get(base) != first.get(value) or read.get(base, -1) >= first[value]:
                break
            if output in carried and base in owned and base not in plan.outputs:
                plan.in_place[output] = base
            if base not in free:
                break
            free.discard(base)
            plan.merged[base] = output
            value = base
    plan.temporaries = [value for value in plan.temporaries if value not in plan.merged]


def _uses(plan: FusionPlan, step: Nest | CallStep) -> tuple[set[ArrayValue], set[ArrayValue]]:
    """The memory that a step reads, other than as the base of a new version, and all that it uses."""
    if isinstance(step, CallStep):
        values, results = step.instruction.values, step.instruction.results
        bases = [plan.links[result] for result in results if result in plan.links]
        read = [plan.layouts[value].root for value in values]
        return {root for root in read if root not in bases}, {*read, *results}
    read = plan.memory_read(step)
    made = [instruction.results[0] for instruction in step.scatters + step.reductions]
    bases = [plan.links[value] for value in made if value in plan.links]
    return set(read), {*read, *bases, *step.stores, *made}

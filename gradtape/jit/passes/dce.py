"""Dead code elimination, inside of loops as well."""

from __future__ import annotations

from gradtape.jit.ir.program import LOOP, Instruction, Loop, Program, Value


def drop_dead(program: Program) -> Program:
    """Drop instructions without an effect whose results are not used, and constants that are not read."""
    wanted = set(program.outputs)
    kept: list[Instruction] = []
    for instruction in reversed(program.instructions):
        if instruction.effect or not wanted.isdisjoint(instruction.results):
            if instruction.op is LOOP and not all(result in wanted for result in instruction.results):
                instruction = _drop_unused_of_loop(instruction, wanted)
            kept.append(instruction)
            wanted.update(instruction.operands)  # type: ignore[arg-type]  # literals among them do no harm
    constants = tuple([constant for constant in program.constants if constant.value in wanted])
    return program.replace(instructions=tuple(reversed(kept)), constants=constants)


def _drop_unused_of_loop(instruction: Instruction, wanted: set[Value]) -> Instruction:
    """A loop that stacks, carries and reads only what is used after it."""
    loop, body = instruction.params["loop"], instruction.params["loop"].body
    carries = range(loop.carried)
    kept = {i for i in carries if instruction.results[i] in wanted}
    stacks = [i for i in range(loop.carried, len(body.outputs)) if instruction.results[i] in wanted]
    while True:
        outputs = tuple([body.outputs[i] for i in carries if i in kept] + [body.outputs[i] for i in stacks])
        rest = drop_dead(body.replace(outputs=outputs))
        read = {value for i in rest.instructions for value in i.values} | {*outputs}
        more = {i for i in carries if body.inputs[i] in read} - kept
        if not more:
            break
        kept |= more
    walks = range(loop.carried, loop.carried + len(loop.sliced))
    chosen = sorted(kept) + [i for i in range(loop.carried, len(body.inputs)) if body.inputs[i] in read]
    smaller = Loop(
        rest.replace(inputs=tuple([body.inputs[i] for i in chosen])),
        loop.length,
        len(kept),
        tuple([loop.sliced[i - loop.carried] for i in walks if i in chosen]),
        tuple([loop.stacked[i - loop.carried] for i in stacks]),
    )
    operands = tuple([instruction.operands[i] for i in chosen])
    results = tuple([instruction.results[i] for i in (*sorted(kept), *stacks)])
    return instruction.replace(operands=operands, params={"loop": smaller}, results=results)

"""The compiler from end to end: `compile_call` names every stage in order, and `STAGES` prints what each one made.

trace      (`jit.trace`, `jit.guards`) run the function on tracers: what it does is recorded as a `Program`, and what it
           reads besides its arguments becomes guards
optimise   (`jit.passes`) rewrite the program until it does not get shorter, and make loops of repetitions
schedule   (`jit.runtime`, `jit.native`) order the instructions into steps: NumPy kernels, and native groups, which are
           lowered, emitted as LLVM IR and compiled to machine code
generate   (`jit.runtime.runner`) write the Python function that runs the steps, with its buffers
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gradtape.config import config
from gradtape.jit.ir.program import Program, loop_runners
from gradtape.jit.ir.verify import verify
from gradtape.jit.ir.while_loop import while_runners
from gradtape.jit.native.runtime import threads
from gradtape.jit.passes import optimise
from gradtape.jit.runtime import backends
from gradtape.jit.runtime.executable import Executable
from gradtape.jit.runtime.gc_pause import collect_less_often
from gradtape.jit.runtime.loops import compile_loop, make_evaluator
from gradtape.jit.runtime.runner import Runner
from gradtape.jit.runtime.schedule import NativeGroup, Step
from gradtape.jit.runtime.while_loops import WhileEvaluator, compile_while
from gradtape.jit.trace.call import trace_call

if TYPE_CHECKING:
    from gradtape.jit.guards.signature import CallArguments, Static


loop_runners.register(compile_loop, make_evaluator)
while_runners.register(compile_while, WhileEvaluator)


def compile_call(
    function: Callable[..., Any], static: Static, call: CallArguments, args: Any, kwargs: Any
) -> tuple[Executable, list[Any]]:
    """An executable of `function` for calls like this one, and the captured values that it was traced with.

    `call` is the flat form of `args` and `kwargs`. Raises `Untraceable` where the function cannot be compiled.
    """
    with collect_less_often():
        trace = trace_call(function, static, call, args, kwargs, workers=threads.NAME)
        _verify_if_checking(trace.program)
        program = optimise(trace.program, loops=trace.loops)
        _verify_if_checking(program)
        steps = backends.steps(program)
        runner = Runner(program, steps)
        return Executable(trace, program, runner), trace.captured


def _verify_if_checking(program: Program) -> None:
    """In the checking modes, raise a `ProgramError` if a stage made a program that breaks the specification."""
    if config.check != "off":
        verify(program, run=False)


def _print_steps(executable: Executable) -> str:
    """One line for each step; the instructions of a native group are indented under it."""
    lines: list[str] = []
    for index, step in enumerate(executable.runner.steps):
        if isinstance(step, NativeGroup):
            inputs, outputs = (", ".join(f"%{value.id}" for value in values) for values in (step.inputs, step.outputs))
            lines.append(f"step {index}: native group, {inputs or 'nothing'} -> {outputs}")
            lines += [f"  {instruction!r}" for instruction in step.instructions]
        else:
            lines.append(f"step {index}: NumPy kernel")
            lines.append(f"  {step!r}")
    return "\n".join(lines)


def _print_llvm(executable: Executable) -> str:
    """The LLVM IR of all native groups, those in the bodies of loops that Python runs included."""
    texts = [getattr(group.call, "text", "") for group in _find_groups(executable.runner.steps)]
    modules = [f"; native group {index}\n{text}" for index, text in enumerate(texts) if text]
    return "\n".join(modules) or "; no native code: every step is a NumPy kernel"


def _find_groups(steps: Sequence[Step]) -> Iterator[NativeGroup]:
    for step in steps:
        if isinstance(step, NativeGroup):
            yield step
        elif step.op.kind == "loop":
            yield from _find_groups(step.params["loop"].runner.steps)


STAGES: dict[str, Callable[[Executable], str]] = {
    "traced": lambda executable: str(executable.traced),
    "optimised": lambda executable: str(executable.program),
    "scheduled": _print_steps,
    "llvm": _print_llvm,
    "source": lambda executable: executable.runner.source,
}
"""What each stage made of a function, as text, in the order of the pipeline: see `Compiled.stage`."""

"""The runner of a program: a generated straight-line Python function that calls its steps one after the other.

A step is a NumPy kernel, or a native function for a group of instructions: see `schedule`. Large intermediate results
are written into buffers that belong to the compiled function and are used again, within a call as soon as a value is
dead, and from call to call; results handed out are never among them: see `buffers`. The body of a loop becomes a
function of its own: see `loops`.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.references import is_viewed_otherwise
from gradtape.jit.errors import GuardFailed
from gradtape.jit.ir.kernels import Call, call_silently
from gradtape.jit.ir.program import (
    GUARD,
    Instruction,
    Literal,
    LoopFunction,
    Operand,
    Program,
    Value,
    depends_on_values,
)
from gradtape.jit.runtime.buffers import LARGE, BufferPlan
from gradtape.jit.runtime.schedule import NativeGroup, Step

_FILE = f"{__file__}:generated"
_ARENAS = 4  # how many threads at once get buffers that are used again; others get new ones


class Runner:
    """A program as a function of its inputs, that returns a tuple of fresh outputs.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> from gradtape.jit.runtime.runner import Runner
    >>> program = jit(lambda x: x * 2.0 + 1.0).lower(np.ones(2))
    >>> runner = Runner(program)
    >>> runner(np.array([1.0, 5.0]))
    (array([ 3., 11.]),)
    >>> print(runner.source)
    def run(v0):
        v1 = multiply(v0, l0)
        v2 = add(v1, l1)
        return v2,
    """

    def __init__(self, program: Program, steps: Sequence[Step] | None = None) -> None:
        self.program = program
        self.steps: tuple[Step, ...] = tuple(program.instructions if steps is None else steps)
        self.loops: dict[Step, LoopFunction] = {
            step: self.loop_function(step.params["loop"])
            for step in self.steps
            if isinstance(step, Instruction) and step.op.kind == "loop"
        }
        self.plan = BufferPlan(program, self.steps, self.loops)
        self.scope: dict[str, Any] = {"GuardFailed": GuardFailed, "fresh": fresh}
        self._bound: dict[int, str] = {}  # names of what the scope holds, and so keeps alive, by identity
        self._literals: dict[Any, str] = {}
        self.arenas: list[list[np.ndarray[Any, Any]]] = []
        self.groups: dict[str, Call] = {}  # by their names in the scope
        self.source = "\n".join(self._lines())
        exec(compile(self.source, _FILE, "exec"), self.scope)
        self.call: Call = self.scope["run"]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        return call_silently(self.call, arrays)

    def loop_function(self, loop: Any) -> LoopFunction:
        """The function of a loop that is one of the steps."""
        found: LoopFunction = loop.runner
        return found

    @property
    def peak(self) -> int:
        """The bytes of results and intermediate values that are alive at the same time, at most."""
        return self.plan.peak

    def quicken(self, quicker: Callable[[Call], Call]) -> None:
        """Exchange the functions of native groups for ones with less overhead per call."""
        while self.groups:
            try:
                name, call = self.groups.popitem()
            except KeyError:  # another thread was quicker
                return
            self.scope[name] = quicker(call)

    def new_arena(self) -> list[np.ndarray[Any, Any]]:
        """The buffers of one call: those of an earlier call if they are free."""
        try:
            return self.arenas.pop()
        except IndexError:
            return [np.empty(value.shape, value.dtype) for value in self.plan.buffers]

    def keep_arena(self, arena: list[np.ndarray[Any, Any]]) -> None:
        """Keep the temporaries of a run for a later one, unless enough are kept already."""
        if len(self.arenas) < _ARENAS:
            self.arenas.append(arena)

    # -- the source

    def _lines(self) -> list[str]:
        for constant in self.program.constants:
            self.scope[f"v{constant.value.id}"] = constant.array
        lines = [f"def run({', '.join(f'v{value.id}' for value in self.program.inputs)}):"]
        if self.plan.buffers:
            self.scope.update(new_arena=self.new_arena, keep_arena=self.keep_arena)
            buffers = ", ".join(f"b{index}" for index in range(len(self.plan.buffers)))
            lines.append(f"    {buffers}, = arena = new_arena()")
        return lines + self._body() + self._ending()

    def _body(self) -> list[str]:
        """The lines of the instructions, with every large value forgotten as soon as it is dead."""
        lines: list[str] = []
        named = {value: index for index, step in enumerate(self.steps) for value in step.results}
        dying: dict[int, list[Value]] = {}
        for value in named:
            if value.nbytes >= LARGE:
                dying.setdefault(self.plan.last[self.plan.leader(value)], []).append(value)
        for index, step in enumerate(self.steps):
            lines.append(f"    {self._line(index, step)}")
            if isinstance(step, Instruction) and depends_on_values(step.op):
                lines += [f"    {self._check_type(value)}" for value in step.results]
            dead = [f"v{value.id}" for value in dying.get(index, ()) if named[value] <= index]
            if dead:
                lines.append(f"    del {', '.join(dead)}")
        held = [v for v in dying.get(len(self.steps), ()) if v not in self.program.outputs]
        if held:  # so that an output that is a view of one of these is the only one to hold it
            lines.append(f"    del {', '.join(f'v{value.id}' for value in held)}")
        return lines

    def _line(self, index: int, step: Step) -> str:
        if isinstance(step, NativeGroup):
            results = "".join(f"v{value.id}, " for value in step.outputs)
            name = self._bind(step.call, f"group{index}")
            self.groups[name] = step.call
            return f"{results}= {name}({', '.join(f'v{v.id}' for v in step.inputs)})"
        if step.op is GUARD:
            (value,) = step.values
            expected = self._bind(step.params["expected"].tobytes(), f"g{index}")
            return f"if v{value.id}.tobytes() != {expected}: raise GuardFailed"
        if step.op.kind == "loop":
            loop = self._bind(self.loops[step].call, f"loop{index}")
            return (
                f"{''.join(f'v{v.id}, ' for v in step.results)}= {loop}({', '.join(f'v{v.id}' for v in step.values)})"
            )
        arguments = [self._operand(x, step) for x in step.operands]
        if len(step.results) == 1 and step.result in self.plan.slots:
            arguments.append(f"b{self.plan.slots[step.result]}")
        arguments += [f"{name}={self._param(value)}" for name, value in step.params.items()]
        left = ", ".join(f"v{value.id}" for value in step.results) + ("," if step.op.outputs else "")
        return f"{left} = {self._kernel(step.op)}({', '.join(arguments)})"

    def _check_type(self, value: Value) -> str:
        dtype = self._bind(value.dtype, f"d{len(self._bound)}")
        return f"if v{value.id}.shape != {value.shape!r} or v{value.id}.dtype != {dtype}: raise GuardFailed"

    def _kernel(self, op: Op) -> str:
        name = op.name if op.name.isidentifier() else "kernel"
        return self._bind(op.kernel, name)

    def _operand(self, operand: Operand, step: Instruction) -> str:
        if type(operand) is Value:
            return f"v{operand.id}"
        assert type(operand) is Literal
        value = operand.value
        if type(value) is float and step.op.ufunc and any(v.dtype == np.float64 for v in step.values):
            value = np.array(value)  # the same number to a double, and NumPy takes it in half the time
        elif type(value) in (int, bool, type(None)):
            return repr(value)
        key = (type(value), repr(operand.value)) if isinstance(operand.value, float) else id(operand)
        if key not in self._literals:
            self._literals[key] = self._bind(value, f"l{len(self._literals)}")
        return self._literals[key]

    def _param(self, value: Any) -> str:
        simple = (int, bool, type(None))  # not strings: a kernel may know one by its identity
        if type(value) in simple or (type(value) is tuple and all(type(part) in simple for part in value)):
            return repr(value)
        return self._bind(value, f"p{len(self._bound)}")

    def _bind(self, thing: Any, name: str) -> str:
        """A name for `thing` in the generated function."""
        if id(thing) in self._bound:
            return self._bound[id(thing)]
        while name in self.scope or name in _TAKEN or keyword.iskeyword(name):
            name += "_"
        self._bound[id(thing)] = name
        self.scope[name] = thing
        return name

    def _ending(self) -> list[str]:
        lines, answers = [], []
        others = ", ".join(
            f"v{value.id}" for value in (*self.program.inputs, *(constant.value for constant in self.program.constants))
        )
        seen: set[Value] = set()
        native = {value for step in self.steps if isinstance(step, NativeGroup) for value in step.outputs}
        careful = [v for v in self.program.outputs if not self._is_own(v)]
        if len({*careful}) < len(careful) or careful:
            lines.append(f"    seen = [{others}]")
        for value in self.program.outputs:
            if value in seen:
                answers.append(f"v{value.id}.copy()")
            elif self._is_own(value):
                answers.append(f"v{value.id}" if value.shape or value not in native else f"v{value.id}[()]")
            else:
                answers.append(f"fresh(v{value.id}, seen)")
            seen.add(value)
        if self.plan.buffers:
            lines.append(f"    answer = {''.join(f'{answer}, ' for answer in answers) or '()'}")
            lines += ["    keep_arena(arena)", "    return answer"]
        else:
            lines.append(f"    return {', '.join(answers)}," if answers else "    return ()")
        return lines

    def _is_own(self, value: Value) -> bool:
        """Whether a value is known from the program to be in memory of its own, which no other array shares."""
        return value in self.plan.fresh


_TAKEN = frozenset({"run", "arena", "answer", "seen", "zip", "range", "up", "down"})


def fresh(value: Any, seen: list[Any]) -> Any:
    """`value` in memory of its own: a copy if it is a view, or one of `seen`, to which it is added."""
    if type(value) is not np.ndarray:
        return value
    viewed = is_viewed_otherwise(value)
    if viewed or not value.flags.writeable or any(value is other for other in seen):
        value = value.copy()
    seen.append(value)
    return value

"""A block: the native code of a list of instructions, and of the bodies of the loops among them.

A block is a function of a table of pointers. A slot of the table is the memory of an input, of an output, or of what
the block keeps in between; the slots of a block are its own, and whoever calls it fills the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from gradtape.config import config
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.elementwise import often_used
from gradtape.jit.native.emit.loops import LONG, POINTER, STATUS, VOID, Loops
from gradtape.jit.native.emit.memory_checks import GUARD, ModuleChecks, emit_poison
from gradtape.jit.native.emit.nest import NestCode, NestEmitter, emit_zeros
from gradtape.jit.native.lower import conv, pool, scan
from gradtape.jit.native.lower import factor as factors
from gradtape.jit.native.lower.decompose import expanded
from gradtape.jit.native.lower.ir import CALLBACK, CHECKED, FILLING, PART
from gradtape.jit.native.lower.support import LOOP
from gradtape.jit.native.runtime.llvm import Machine
from gradtape.jit.native.schedule.fusion import CallStep, Nest, Plan
from gradtape.jit.native.schedule.layout import bytes_of
from gradtape.jit.native.schedule.tiling import TILED

ALIGNMENT = 64
BYTE = ir.IntType(8)
TILE_UNITS = 16
SHORT = 45
"""Instructions up to which it takes no longer to compile them as a part of another function than to begin a new one."""


class Block:
    """The functions of a block in `module`, and the memory that the block needs.

    `codes` are its steps in order; `emit_run` makes one function of them. `temporaries` are slots with their offsets in
    `workspace` bytes of memory; `held` are arrays that are the same in every run, by their slots. A block that
    `is_checked` has a slot for the address of a number, 0 to begin with, that it sets if a position does not exist.
    """

    def __init__(
        self,
        module: Any,
        machine: Machine,
        instructions: Sequence[Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        steps: Mapping[Any, tuple[int, ...]] | None = None,
        prefix: str = "",
    ) -> None:
        self.module, self.machine, self.prefix = module, machine, prefix
        self.checks = getattr(module, "checks", None)  # see `checking`
        self.plan = plan = Plan(instructions, inputs, outputs, dict(steps or {}))
        self.inputs, self.written = tuple(inputs), tuple(plan.written)
        self.codes: list[NestCode] = []
        self.addresses: dict[str, int] = {}  # where the arrays are that the code reads by name
        self._sizes = {value: bytes_of(value) for value in plan.handed_on}
        self._lives: dict[Any, list[int]] = {}
        self._successions: list[tuple[int, Any, Any]] = []  # at a step, what may be written over what
        reductions = [reduction for nest in plan.nests for reduction in nest.reductions]
        loops = [call.instruction for call in plan.calls if call.instruction.name == LOOP]
        own = {LOOP, TILED, *conv.NAMES, *factors.NAMES}  # those that have memory of their own
        calls = [call.instruction for call in plan.calls if call.instruction.name in own]
        keys = [*inputs, *self.written, *plan.handed_on, *reductions, *calls, *plan.held]
        self.is_checked = self._looks_at_positions(loops)
        self.slots = {key: i for i, key in enumerate([*keys, STATUS] if self.is_checked else keys)}
        self.count = len(self.slots)
        self.slots |= {value: self.slots[output] for value, output in plan.aliases.items()}
        self.held = {self.slots[value]: array for value, array in plan.held.items()}
        self.kept: list[Any] = []  # arrays whose addresses the code knows
        self._outlined = often_used([instruction for nest in plan.nests for instruction in nest.instructions])
        for i, step in enumerate(plan.steps):
            if isinstance(step, Nest):
                self._emit_nest(f"{prefix}nest_{i}", step)
            else:
                self._emit_call(f"{prefix}call_{i}", step)
        self.guard = 0 if self.checks is None else GUARD
        self.temporaries, self.workspace = self._arranged()
        if self.checks is not None:
            self._set_sizes(self.checks)

    def _looks_at_positions(self, loops: Sequence[Any]) -> bool:
        """Whether there are positions that may not exist, in the bodies of loops, too."""
        if any(instruction.name in CHECKED for instruction in self.plan.instructions):
            return True
        bodies = [inner for loop in loops for inner in loop.params["loop"].body.instructions]
        return any(i.name in CHECKED or i.name == LOOP for i in expanded(bodies))

    def _uses(self, keys: Iterable[Any]) -> None:
        """What the step that was emitted last reads or writes."""
        for key in keys:
            if key in self._sizes:
                self._lives.setdefault(key, []).append(len(self.codes) - 1)

    def _emit_nest(self, name: str, nest: Nest) -> None:
        around = [scatter.results[0] for scatter in nest.scatters if scatter.name != PART]  # of parts, all is written
        if around:
            zeros = [(self.slots[value], bytes_of(value)) for value in around]
            self.codes.append(emit_zeros(self.module, f"{name}_zeros", zeros))
            self._uses(around)
        emitter = NestEmitter(self.module, self.machine, name, nest, self.plan, self.slots, self._outlined)
        code = emitter.emit()
        self.codes.append(code)
        self._successions += [(len(self.codes) - 1, *pair) for pair in emitter.successions()]
        self._sizes |= code.partial_sizes
        made = [instruction.results[0] for instruction in nest.scatters + nest.reductions]
        roots = [self.plan.places[value].root for value in (*nest.loads, *nest.tables)]
        self._uses([*roots, *nest.stores, *made, *code.partial_sizes])

    def _emit_call(self, name: str, step: CallStep) -> None:
        """Emits a call. What does so is loaded by the first who has such a call: few have more than one kind."""
        instruction, units, finish = step.instruction, 1, None
        if instruction.name in (LOOP, TILED):
            emitter = (LoopEmitter if instruction.name == LOOP else TileEmitter)(self, name, instruction)
            work, units = emitter.emit(), emitter.units
            self._sizes[instruction] = emitter.memory
        elif instruction.name == FILLING:
            from gradtape.jit.native.emit.scatter_add import FillingEmitter

            work = FillingEmitter(self.module, name, instruction, self.plan, self.slots).emit()
        elif instruction.name == CALLBACK:
            from gradtape.jit.native.emit.callback import CallbackEmitter

            callback = CallbackEmitter(self.module, name, instruction, self.plan, self.slots)
            work = callback.emit()
            self.addresses[callback.symbol] = callback.address
            self.kept.append(callback.function)
        elif instruction.name in conv.NAMES:
            from gradtape.jit.native.emit.conv import ConvolutionEmitter

            convolution = ConvolutionEmitter(self.module, self.machine, name, instruction, self.plan, self.slots)
            work, units, finish = convolution.emit(), convolution.units, convolution.finish
            self._sizes[instruction] = convolution.memory
        elif instruction.name in scan.NAMES:
            from gradtape.jit.native.emit.scan import RunningEmitter

            work = RunningEmitter(self.module, self.machine, name, instruction, self.plan, self.slots).emit()
        elif instruction.name in factors.NAMES:
            from gradtape.jit.native.emit.factor import FactorEmitter

            factor = FactorEmitter(self.module, self.machine, name, instruction, self.plan, self.slots)
            work = factor.emit()
            self._sizes[instruction] = factor.memory
        elif instruction.name in pool.NAMES:
            from gradtape.jit.native.emit.pool import emitter_for

            pooling = emitter_for(instruction)(self.module, self.machine, name, instruction, self.plan, self.slots)
            work, units = pooling.emit(), pooling.units
        else:
            from gradtape.jit.native.emit.matmul import ProductEmitter

            product = ProductEmitter(self.module, self.machine, name, instruction, self.plan, self.slots)
            work, units = product.emit(), product.units
        self.codes.append(NestCode(name, units, finish, work, False, {}))
        roots = [self.plan.places[value].root for value in instruction.operands]
        self._uses([*roots, *instruction.results, instruction])

    def _arranged(self) -> tuple[list[tuple[int, int]], int]:
        """The offset of each temporary in one piece of memory: two may share it if they are never needed at once."""
        placed: list[tuple[int, int, int, int]] = []  # offset, end, first step, last step
        temporaries: list[tuple[int, int]] = []
        lives = {key: (min(steps), max(steps)) for key, steps in self._lives.items()}
        followers = self._followers(lives)
        heirs = set(followers.values())
        if self.checks is not None:
            self._insert_poison({key: lives.get(key, (0, 0))[0] for key in self._sizes if key not in heirs})
        for key, size in sorted(self._sizes.items(), key=lambda item: -item[1]):
            if key in heirs:
                continue
            line = [key]
            while line[-1] in followers:
                line.append(followers[line[-1]])
            first, last = lives.get(key, (0, len(self.codes)))[0], lives.get(line[-1], (0, len(self.codes)))[1]
            length = -(-size // ALIGNMENT) * ALIGNMENT + self.guard
            offset = 0
            for start, end, begin, finish in sorted(placed):
                if begin <= last and first <= finish and start < offset + length and offset < end:
                    offset = end
            placed.append((offset, offset + length, first, last))
            temporaries += [(self.slots[member], offset) for member in line]
        if config.check != "off":
            from gradtape.jit.native.schedule.verify import verify_workspace

            offsets = dict(temporaries)
            verify_workspace(lives, {key: (offsets[self.slots[key]], n) for key, n in self._sizes.items()}, followers)
        return temporaries, max((end for _, end, _, _ in placed), default=0)

    def _insert_poison(self, starts: dict[Any, int]) -> None:
        """Fill outputs with poison before the first step, and temporaries before the step at which each starts."""
        at_step: dict[int, list[tuple[int, int]]] = {
            0: [(self.slots[value], bytes_of(value)) for value in self.written]
        }
        for key, step in starts.items():
            at_step.setdefault(step, []).append((self.slots[key], self._sizes[key]))
        codes: list[NestCode] = []
        for i, code in enumerate(self.codes):
            if i in at_step:
                name = f"{self.prefix}poison_{i}"
                emit_poison(self.module, name, at_step[i])
                codes.append(NestCode(name, 1, None, 0, False, {}))
            codes.append(code)
        self.codes = codes

    def _set_sizes(self, checks: ModuleChecks) -> None:
        """The size of the memory in each slot, for the bounds of what the code accesses."""
        sizes = {value: bytes_of(value) for value in (*self.inputs, *self.written, *self.plan.held)}
        sizes |= self._sizes
        sizes[STATUS] = 8
        self.sizes = {self.slots[key]: size for key, size in sizes.items() if key in self.slots}
        for slot, size in self.sizes.items():
            checks.set_size(self.prefix, slot, size)

    def _followers(self, lives: dict[Any, tuple[int, int]]) -> dict[Any, Any]:
        """What is written over what: each has one heir at most, which begins in the step in which it ends."""
        followers: dict[Any, Any] = {}
        for step, key, heir in self._successions:
            if key in followers or heir in followers.values() or key not in lives or heir not in lives:
                continue
            if lives[key][1] == step == lives[heir][0]:
                followers[key] = heir
        return followers

    def emit_run(self) -> Any:
        """`{prefix}run(buffers)`: all steps in order, by the calling thread. Nobody else can call them then."""
        run = ir.Function(self.module, ir.FunctionType(VOID, [POINTER]), f"{self.prefix}run")
        builder = start_builder(run.append_basic_block("entry"))
        (buffers,) = run.args
        for code in self.codes:
            bounds = [ir.Constant(LONG, 0), ir.Constant(LONG, code.units)]
            builder.call(internal(self.module.globals[code.name]), [buffers, *bounds])
            if code.finish:
                builder.call(internal(self.module.globals[code.finish]), [buffers])
        builder.ret_void()
        return run


def internal(function: Any) -> Any:
    """The function, as one that nobody calls from outside. A short one becomes a part of its caller."""
    function.linkage = "internal"
    if sum(len(block.instructions) for block in function.blocks) <= SHORT:
        function.attributes.add("alwaysinline")
    return function


class Nested(Loops):
    """Emits `name(buffers, begin, end)` around a block of its own, whose table of pointers it fills."""

    inner: Block
    memory: int  # bytes that it needs, in the slot of its instruction
    units = 1

    def __init__(self, outer: Block, name: str, instruction: Any) -> None:
        self.outer, self.name, self.instruction = outer, name, instruction
        self.module = outer.module
        self.operands = [outer.plan.places[x].root for x in instruction.operands]  # in C order, from the start

    def open(self, instructions: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Emits the inner block and begins the function."""
        self.inner = Block(self.module, self.outer.machine, instructions, inputs, outputs, prefix=f"{self.name}_body_")
        self.body = internal(self.inner.emit_run())
        self.outer.addresses |= self.inner.addresses
        self.memory = self.inner.workspace
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), self.name)
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        self.lanes = _NoLanes()  # type: ignore[assignment]
        self.buffers, self.begin, self.end = function.args
        table = self.builder.alloca(ir.ArrayType(POINTER, max(1, self.inner.count)))
        self.table = self.builder.inttoptr(self.builder.ptrtoint(table, LONG), POINTER)

    def prepare(self, space: Any, constants: Mapping[int, Any]) -> None:
        """What is the same for every run of the inner block: memory, and arrays that are known, by their slots."""
        builder, inner = self.builder, self.inner
        for slot, offset in inner.temporaries:
            self.fill_slot(slot, self.moved(space, self.number(offset)))
        arrays = {**constants, **inner.held}
        for slot, array in arrays.items():
            # by name, so that the text is the same in every process
            place = ir.GlobalVariable(self.module, BYTE, f"{self.name}_constant_{slot}")
            self.outer.addresses[place.name] = array.ctypes.data
            address = builder.inttoptr(builder.ptrtoint(place, LONG), POINTER)
            builder.store(address, self.inner_slot(slot))
        self.outer.kept += [*arrays.values(), *inner.kept]
        if inner.is_checked:
            builder.store(self.outer_slot(STATUS), self.inner_slot(inner.slots[STATUS]))

    def run(self) -> None:
        self.builder.call(self.body, [self.table])

    def work(self) -> int:
        """A measure of one run of the inner block."""
        codes = self.inner.codes
        return max(sum(code.elements * (8 if code.heavy else 1) for code in codes), 50 * len(codes))

    # -- pointers

    def outer_slot(self, key: Any) -> Any:
        index = self.number(self.outer.slots[key])
        return self.builder.load(self.builder.gep(self.buffers, [index], source_etype=POINTER), typ=POINTER)

    def inner_slot(self, index: int) -> Any:
        return self.builder.gep(self.table, [self.number(index)], source_etype=POINTER)

    def fill_slot(self, slot: int, pointer: Any) -> None:
        """Where the inner block finds the memory of one of its slots."""
        if self.outer.checks is not None:
            pointer = self.builder.require(pointer, self.inner.sizes[slot], "hands its body")
        self.builder.store(pointer, self.inner_slot(slot))

    def moved(self, pointer: Any, distance: Any) -> Any:
        return self.builder.gep(pointer, [distance], source_etype=BYTE)

    def room(self, space: Any, value: Any) -> Any:
        """More memory of its own."""
        start = self.memory
        self.memory += -(-bytes_of(value) // ALIGNMENT) * ALIGNMENT
        return self.moved(space, self.number(start))


class LoopEmitter(Nested):
    """A loop: its body as a block of its own, run once for each step.

    Carried values have two places each, of which every step reads one and writes the other.
    """

    def emit(self) -> int:
        loop = self.instruction.params["loop"]
        body, constants = loop.body, loop.body.constants
        self.open(body.instructions, [*body.inputs, *(constant.value for constant in constants)], body.outputs)
        space = self.outer_slot(self.instruction)
        self.prepare(space, {self.inner.slots[constant.value]: constant.array for constant in constants})
        self.emit_steps(loop, space, [self.outer_slot(key) for key in self.operands])
        self.builder.ret_void()
        return int(loop.length * self.work())

    def walked(self, pointer: Any, walk: Any, step: Any, value: Any) -> Any:
        """Where the row of a step is."""
        size = bytes_of(value)
        distance = self.builder.mul(step, self.number(walk.step * size))
        return self.moved(pointer, self.builder.add(distance, self.number(walk.start * size)))

    def emit_steps(self, loop: Any, space: Any, operands: list[Any]) -> None:
        inner, builder = self.inner, self.builder
        inputs, outputs = loop.body.inputs, loop.body.outputs
        carried, sliced = loop.carried, len(loop.sliced)
        pairs = [(self.room(space, value), self.room(space, value)) for value in inputs[:carried]]
        for (first, _), operand, value in zip(pairs, operands, inputs, strict=False):
            self.copy_bytes(first, operand, bytes_of(value))
        for value, operand in zip(inputs[carried + sliced :], operands[carried + sliced :], strict=True):
            self.fill_slot(inner.slots[value], operand)
        results = [self.outer_slot(result) for result in self.instruction.results]
        with self.loop(0, loop.length) as step:
            odd = builder.trunc(step, ir.IntType(1))
            targets = []
            for (one, other), value in zip(pairs, inputs, strict=False):
                self.fill_slot(inner.slots[value], builder.select(odd, other, one))
                targets.append(builder.select(odd, one, other))
            for walk, value, operand in zip(loop.sliced, inputs[carried:], operands[carried:], strict=False):
                self.fill_slot(inner.slots[value], self.walked(operand, walk, step, value))
            for walk, value, result in zip(loop.stacked, outputs[carried:], results[carried:], strict=True):
                targets.append(self.walked(result, walk, step, value))
            direct: dict[Any, Any] = {}
            for value, target in zip(outputs, targets, strict=True):
                if value in inner.written and value not in direct:
                    direct[value] = target
                    self.fill_slot(inner.slots[value], target)
            self.run()
            for value, target in zip(outputs, targets, strict=True):
                if direct.get(value) is not target:
                    source = builder.load(self.inner_slot(inner.slots[value]), typ=POINTER)
                    self.copy_bytes(target, source, bytes_of(value))
        for (one, other), result, value in zip(pairs, results, outputs, strict=False):
            self.copy_bytes(result, other if loop.length % 2 else one, bytes_of(value))


class TileEmitter(Nested):
    """Loops over large arrays, tile by tile: see `tiles`. A unit is a run of tiles."""

    def emit(self) -> int:
        self.tile = tile = self.instruction.params["tile"]
        count = -(-tile.whole // tile.length)
        self.units = min(TILE_UNITS, count)
        self.open(tile.instructions, tile.inputs, tile.outputs)
        builder = self.builder
        short = [*tile.inputs, *tile.outputs]
        size = self.memory + sum(-(-bytes_of(x) // ALIGNMENT) * ALIGNMENT for x in short if tile.rows.get(x, 1) > 1)
        # one thread, one region of memory
        space = self.moved(self.outer_slot(self.instruction), builder.mul(self.begin, self.number(size)))
        self.prepare(space, {})
        wholes = [self.outer_slot(key) for key in (*self.operands, *self.instruction.results)]
        rooms = [self.room(space, value) if tile.rows.get(value, 1) > 1 else None for value in short]
        with self.loop(self.begin, self.end) as unit:
            first, last = (
                builder.udiv(
                    builder.mul(builder.add(unit, self.number(i)), self.number(count)), self.number(self.units)
                )
                for i in (0, 1)
            )
            with self.loop(first, last) as number:
                # the last tile begins earlier than it should, and is the same where it overlaps the one before
                place = builder.mul(number, self.number(tile.length))
                place = self.minimum(place, self.number(tile.whole - tile.length))
                parts = list(zip(short, wholes, rooms, strict=True))
                for value, whole, room in parts:
                    self.point(value, whole, room, place)
                for value, whole, room in parts[: len(tile.inputs)]:
                    self.copy_rows(value, whole, room, place, inwards=True)
                self.run()
                for value, whole, room in parts[len(tile.inputs) :]:
                    self.copy_rows(value, whole, room, place, inwards=False)
        builder.ret_void()
        self.memory = self.units * size
        return int(count * self.work())

    def point(self, value: Any, whole: Any, room: Any, place: Any) -> None:
        """Where the inner block finds its part of an array."""
        if room is None:
            room = self.part(value, whole, place) if value in self.tile.rows else whole
        self.fill_slot(self.inner.slots[value], room)

    def part(self, value: Any, whole: Any, place: Any) -> Any:
        return self.moved(whole, self.builder.mul(place, self.number(value.dtype.itemsize)))

    def copy_rows(self, value: Any, whole: Any, room: Any, place: Any, inwards: bool) -> None:
        """The tile's part of each row of a stack, to where the inner block has it, or back."""
        if room is None:
            return
        size, row = value.dtype.itemsize, self.tile.length * value.dtype.itemsize
        with self.loop(0, self.tile.rows[value]) as number:
            outside = self.moved(whole, self.builder.mul(number, self.number(self.tile.whole * size)))
            outside = self.part(value, outside, place)
            inside = self.moved(room, self.builder.mul(number, self.number(row)))
            self.copy_bytes(*((inside, outside) if inwards else (outside, inside)), row)


class _NoLanes:
    """A loop has no vectors of its own."""

    def enter(self) -> None:
        """Nothing is emitted that could be shared."""

    def leave(self) -> None:
        """Nothing was."""

"""Which recorders (tapes, accumulators) are active.

An immutable state in a context variable, so that threads and async tasks are independent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from gradtape.core.graph import AMBIENT, FIRST_TAPE, Node, ambient_leaves
from gradtape.forking import fork_safe

if TYPE_CHECKING:
    from gradtape.core.operation import Op
    from gradtape.core.tensor import Variable


class Recorder:
    """Something that operations are recorded on: owns one bit for as long as any node may carry it.

    The recorder does not hold the nodes. They hold it (through their `Recording`), so when it dies no recorded node
    carries its bit any more, and the leaves that it watched are cleared here.
    """

    watches_variables = False
    pushes_forward = False
    is_private = False  # whether gradients can be asked for with respect to its sources only

    def __init__(self) -> None:
        self.bit = claim_bit()
        self._watched: dict[Node, None] = {}

    def __del__(self) -> None:
        if hasattr(self, "bit"):
            self._forget()
            free_bits([self.bit])

    def _forget(self) -> None:
        for node in self._watched:
            node.bits &= ~self.bit
            if node.extra is not None:
                node.extra.tangents.pop(self.bit, None)
        self._watched.clear()

    def on_variable_read(self, variable: Variable) -> None:
        """Called with every trainable variable that an operation reads."""

    def push(self, node: Node, attach: Callable[[Any, Node], Any]) -> None:
        """Called with the node of every recorded operation, where `pushes_forward` is set."""

    def keeps(self, node: Node) -> bool:
        """Whether the graph behind `node` is kept, where `pushes_forward` is set and a value has left."""
        return True


_free_bits: list[int] = []
_bit_lock = fork_safe(threading.Lock())
_bits_made = 0


def claim_bit() -> int:
    """A bit that no live node carries."""
    global _bits_made
    with _bit_lock:
        if _free_bits:
            return _free_bits.pop()
        _bits_made += 1
        return FIRST_TAPE << (_bits_made - 1)


def free_bits(bits: list[int]) -> None:
    """Give back bits that no node carries any more."""
    _free_bits.extend(bits)


class Interpreter(Protocol):
    """What runs operations in the place of their kernels."""

    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The result of an operation."""
        ...


class Recording:
    """Which recorders are on. `bits` is what an operation compares its inputs' bits with.

    `muted` are the bits that `no_grad` has switched off: those of all that was on then, not of what is entered later.
    A walk back switches off `.backward()`'s bit in the same way, so that `enable_grad` in a rule or a hook of the
    user's switches it on again; `walking` tells the two apart.

    `interpreter` is given the operations on tensors that are on a tape which is not on, unless `no_grad` is the reason:
    those of the body of a loop that `jit` traces as one operation of that tape.
    """

    __slots__ = ("ambient", "bits", "code", "forward", "interpreter", "muted", "recorders", "variables", "walking")

    def __init__(
        self,
        recorders: tuple[Recorder, ...] = (),
        ambient: bool = True,
        muted: int = 0,
        walking: bool = False,
        interpreter: Interpreter | None = None,
    ) -> None:
        self.interpreter = interpreter
        self.recorders = recorders
        self.ambient = ambient
        self.walking = walking
        self.code: CodeType | None = None  # of the user's, in which an operation was recorded last
        self.muted = muted
        self.bits = AMBIENT if ambient else 0
        self.variables = self.forward = 0
        for recorder in recorders:
            self.bits |= recorder.bit
            if recorder.watches_variables:
                self.variables |= recorder.bit
            if recorder.pushes_forward:
                self.forward |= recorder.bit
        self.bits &= ~muted
        self.variables &= ~muted
        self.forward &= ~muted

    def with_recorder(self, recorder: Recorder) -> Recording:
        """The same with `recorder` on: as the innermost, if it was not there."""
        recorders = self.recorders if recorder in self.recorders else (*self.recorders, recorder)
        return Recording(recorders, self.ambient, self.muted & ~recorder.bit, interpreter=self.interpreter)

    def with_current_bits(self, muted: int = 0) -> Recording:
        """The same recorders, by the bits that they have now; `muted` are switched off too."""
        return Recording(self.recorders, self.ambient, self.muted | muted, interpreter=self.interpreter)

    def without(self, *recorders: Recorder, ambient: bool | None = None) -> Recording:
        """The same without `recorders`, and with `.backward()`'s recorder switched on or off, if that is said."""
        if ambient is False and not self.recorders:
            return _WALKING if self.ambient else self  # no matter what else is switched off
        remaining = tuple(r for r in self.recorders if r not in recorders)
        if ambient is None:
            return Recording(remaining, self.ambient, self.muted, self.walking, self.interpreter)
        muted = self.muted & ~AMBIENT if ambient else self.muted | AMBIENT
        walking = not ambient and (self.walking or not self.muted & AMBIENT)
        return Recording(remaining, self.ambient or ambient, muted, walking, self.interpreter)

    def within(self, outer: Recording) -> Recording:
        """What was on in `outer` and still is."""
        if self is outer:
            return self
        if self.recorders == outer.recorders and self.muted == outer.muted and self.ambient == outer.ambient:
            return self
        remaining = tuple(r for r in self.recorders if r in outer.recorders)
        muted = self.muted | outer.muted
        return Recording(remaining, self.ambient and outer.ambient, muted, interpreter=self.interpreter)

    def before(self, recorder: Recorder) -> Recording:
        """What was already on when `recorder` was entered."""
        before = self.recorders[: self.recorders.index(recorder)]
        return Recording(before, self.ambient, self.muted, interpreter=self.interpreter)

    def mute(self, on: bool) -> Recording:
        """All that is on now switched off; or all that was switched off on again."""
        muted = self.muted | self.bits | AMBIENT if on else 0
        return Recording(self.recorders, self.ambient, muted, interpreter=self.interpreter)

    def notify_of_variables(self, variables: list[Variable]) -> int:
        """Notify the tapes that watch the variables they meet of `variables`; the bits of those tapes."""
        if self.variables:
            for recorder in self.recorders:
                if recorder.bit & self.variables:
                    for variable in variables:
                        recorder.on_variable_read(variable)
        return self.variables


_INITIAL = Recording()
_WALKING = Recording(muted=AMBIENT, walking=True)
recording_state: ContextVar[Recording] = ContextVar("gradtape recording", default=_INITIAL)
current = recording_state.get
enter = recording_state.set  # make a recording the present state; `leave` what it returns, whatever happens
leave = recording_state.reset


threads_of_tapes: dict[int, int] = {}
"""The thread that each tape and each forward accumulator is on in, by its bit."""

departed_bits = 0
"""The bits of recorders of which a value has left that may come back: forward accumulators then keep the graph."""


def forget_departures(bit: int) -> None:
    """Note that no value of the recorder with this bit has left."""
    global departed_bits
    departed_bits &= ~bit


def bits_of_other_threads() -> int:
    """The bits of tapes that are on in other threads, where none is on in this one: it may have been left out."""
    if not threads_of_tapes or current().recorders:
        return 0
    here, bits = threading.get_ident(), 0
    for bit, thread in list(threads_of_tapes.items()):
        bits |= 0 if thread == here else bit
    return bits


interpreters: set[int] = set()
"""The ids of the interpreters (of `vmap`, of a trace of `jit`) whose tensors a function may be given now."""


def may_record() -> bool:
    """Whether a value that is computed now may come to depend on one that is followed.

    That is so while a tape or an accumulator is on, while an interpreter runs a function, and while a tensor that
    requires a gradient is alive, unless `no_grad` has switched its recording off.
    """
    state = current()
    return bool(state.recorders or interpreters or (ambient_leaves and state.bits & AMBIENT))


def switch(recording: Recording) -> None:
    """Make `recording` the present state of this thread or task."""
    recording_state.set(recording)


class during:
    """`recording` for the length of a `with` block, whatever happens inside. A class, as generators take longer."""

    __slots__ = ("recording", "token")

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __enter__(self) -> None:
        self.token = recording_state.set(self.recording)

    def __exit__(self, *error: object) -> None:
        recording_state.reset(self.token)

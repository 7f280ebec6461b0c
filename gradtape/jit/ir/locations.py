"""Source locations of instructions: the user's line, with one interned `Location` for each place in the code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

from gradtape.core.location import Location, call_at, is_library, overrides
from gradtape.core.operation import Op, apply
from gradtape.jit.ir.program import NOWHERE

PLACES_AT_MOST = 4096


def here(depth: int = 4) -> Location:
    """The user's line behind the operation that is being traced: in a walk back, that of the forward operation."""
    frame: FrameType | None = sys._getframe(depth)  # above `apply` and the tracer
    override = overrides.innermost
    while frame is not None:
        code = frame.f_code
        if override is not None and code is override.code:
            node = override.node
            if node is not None and node.code is not None:
                return place(node.code, node.offset)
            override = override.outer
        elif not is_library(code.co_filename):
            return place(code, frame.f_lasti)
        frame = frame.f_back
    return NOWHERE


def apply_at(node: Any, op: Op, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
    """Run `op` as if it were called at the place of `node`, which may be anything that has a code and an offset."""
    return call_at(node, _apply, op, inputs, params)


def _apply(op: Op, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
    return apply(op, tuple(inputs), params)  # which looks for its place from its caller's caller on


_places: dict[tuple[int, int], Location] = {}  # by the id of the code, which the location holds: codes hash slowly


def place(code: CodeType, offset: int) -> Location:
    """The interned `Location` of (code, offset): loops reach the same place often."""
    key = id(code), offset
    found = _places.get(key)
    if found is None:
        if len(_places) >= PLACES_AT_MOST:
            _places.clear()
        begin = _find_instruction_start(code, offset)
        found = _places[key] = Location(code, offset) if begin == offset else place(code, begin)
    return found


def _find_instruction_start(code: CodeType, offset: int) -> int:
    """Where the bytecode instruction of `offset` begins: in a specialised one, `offset` is that of its last cache."""
    instructions = code.co_code
    while 0 < offset < len(instructions) and not instructions[offset]:
        offset -= 2
    return offset

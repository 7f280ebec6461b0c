"""Source locations of instructions: the user's line, with one interned `Location` for each place in the code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

from gradtape.core import backprop
from gradtape.core.location import Location, as_from, is_library, user_files
from gradtape.core.operation import Op, apply
from gradtape.jit.ir.program import NOWHERE

PLACES_AT_MOST = 4096
_RULE = ("g", "node")  # the first arguments of every reverse rule
_LIBRARY, _WALKING = 1, 2  # kinds of code that is not the user's
_kinds: dict[int, tuple[CodeType, int]] = {}  # by the id of the code, which is held here: codes hash slowly


def here(depth: int = 4) -> Location:
    """The user's line behind the operation that is being traced: in a walk back, that of the forward operation."""
    frame: FrameType | None = sys._getframe(depth)  # above `apply` and the tracer
    while frame is not None:
        code = frame.f_code
        if code.co_filename in user_files:
            return place(code, frame.f_lasti)
        known = _kinds.get(id(code))
        kind = _classify(code) if known is None else known[1]
        if not kind:
            return place(code, frame.f_lasti)
        if kind == _WALKING:  # the rule's frame is smaller than the walk's, and so quicker to read
            node = frame.f_locals.get("node")
            if node is not None and node.code is not None:
                return place(node.code, node.offset)
        frame = frame.f_back
    return NOWHERE


def _classify(code: CodeType) -> int:
    """Whether code is a library's, and a walk back's or a rule's, whose operations belong to those of their node."""
    if len(_kinds) >= PLACES_AT_MOST:
        _kinds.clear()
    if code is backprop._walk.__code__ or code is as_from.__code__ or code.co_varnames[:2] == _RULE:
        kind = _WALKING
    else:
        kind = _LIBRARY if is_library(code.co_filename) else 0
    _kinds[id(code)] = code, kind
    return kind


def apply_at(node: Any, op: Op, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
    """Run `op` as if it were called at the place of `node`, which may be anything that has a code and an offset."""
    return as_from(node, _apply, op, inputs, params)


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

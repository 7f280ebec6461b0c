"""Which line and columns of the user's code an operation came from.

While the program runs, a place is only a code object and an instruction offset (two attribute reads). It is turned
into a file, a line, columns and the text of the sub-expression when somebody asks.
"""

from __future__ import annotations

import dis
import functools
import linecache
import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.forking import cached_property

if TYPE_CHECKING:
    from gradtape.core.graph import Node

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SITE = os.path.dirname(os.path.dirname(os.path.abspath(np.__file__)))
_NEIGHBOURS = ("numpy", "scipy", "torch", "jax", "sklearn", "einops", "opt_einsum", "array_api_compat", "pytensor")
_LIBRARY_FOLDERS = tuple(f + os.sep for f in (_PACKAGE, *(os.path.join(_SITE, name) for name in _NEIGHBOURS)))
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep

user_files: set[str] = set()
"""Files that are known not to be library code, so that the hot path asks once a file."""


@functools.cache
def is_library(filename: str) -> bool:
    """Whether a file is gradtape's, Python's or of a library that calls it, so that its frames are not the user's."""
    path = os.path.abspath(filename)
    library = (
        filename.startswith("<frozen ")
        or path.startswith(_LIBRARY_FOLDERS)
        or (path.startswith(_STANDARD) and "-packages" not in path)
    )
    if not library:
        user_files.add(filename)
    return library


def user_frame(depth: int = 1) -> FrameType | None:
    """The innermost frame, `depth` or more above the caller, that is the user's, not a library's."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


class Walked(threading.local):
    """The node whose gradient rule is running, where that walk back is itself recorded."""

    node: Node | None = None
    code: CodeType | None = None  # of the walk, below which it is running


walked = Walked()


class RuleFrame(NamedTuple):
    """The place of what a gradient rule computes: that of the operation whose rule it is, as a frame would tell it.

    The offset is the complement of the operation's own, so that the two can be told apart.
    """

    f_code: CodeType | None
    f_lasti: int


def as_from(node: Any, function: Callable[..., Any], *given: Any) -> Any:
    """What `function` gives. What it computes belongs to the place of `node`, as if it were called there."""
    return function(*given)


_AS_FROM = as_from.__code__


def first_user_frame(frame: FrameType | None) -> Any:
    """`frame`, or the innermost one that called it, that is not a library's; of a gradient rule's, its `RuleFrame`."""
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_code is _AS_FROM:
            node = frame.f_locals["node"]
            return RuleFrame(node.code, node.offset)
        if walked.node is not None and frame.f_code is walked.code:
            node = walked.node
            return RuleFrame(node.code, node.offset if node.offset < 0 else ~node.offset)
        frame = frame.f_back
    return frame


_Positions = tuple[int | None, int | None, int | None, int | None]
_tables: dict[int, tuple[CodeType, list[_Positions]]] = {}
TABLES_AT_MOST = 64


_ENTERS = frozenset(dis.opmap[name] for name in ("BEFORE_WITH", "BEFORE_ASYNC_WITH") if name in dis.opmap)
_ITERATES = frozenset(dis.opmap[name] for name in ("GET_ITER", "GET_AITER"))
_NEXT = dis.opmap["FOR_ITER"]
_STATEMENT_HAS_ALL = sys.version_info < (3, 13)
"""Whether what enters a `with` block or runs a `for` loop has the position of the whole statement, not of its value."""


def _positions_in(code: CodeType) -> list[_Positions]:
    """The positions of all instructions; those of `with` and `for` at the value that is entered or iterated over."""
    table = list(code.co_positions())
    bytecode: Any = code.co_code
    operations = bytecode[::2] if _STATEMENT_HAS_ALL else b""
    begins = [k for k, operation in enumerate(operations) if operation in _ENTERS or operation in _ITERATES]
    if not begins:
        return table
    joins = {target // 2 for target in dis.findlabels(bytecode)}  # where the branches of `a if b else c` meet
    values: dict[_Positions, set[_Positions]] = {}  # by the position of the statement
    narrowed = table.copy()
    for k in begins:
        if k and k not in joins:
            narrowed[k] = table[k - 1]  # the instruction before has computed the value
        values.setdefault(table[k], set()).add(narrowed[k])
    enters = {table[k] for k in begins if operations[k] in _ENTERS}
    for k, position in enumerate(table):
        found = values.get(position, ())
        if len(found) == 1 and (position in enters or operations[k] == _NEXT):  # what leaves the block, too
            (narrowed[k],) = found
    return narrowed


def _table_of(code: CodeType) -> list[_Positions]:
    """The positions of all instructions of `code`: made once, as it is long. By identity: to hash code is slow."""
    known = _tables.get(id(code))
    if known is None:
        if len(_tables) >= TABLES_AT_MOST:
            del _tables[next(iter(_tables))]
        known = _tables[id(code)] = (code, _positions_in(code))  # holds the code, so that its id stays
    return known[1]


class Location:
    """A place in the user's source: `file`, `line`, columns, and the sub-expression as it was written.

    >>> from gradtape.core.location import Location
    >>> where = Location.here()
    >>> where.segment
    'Location.here()'
    """

    def __init__(self, code: CodeType | None, offset: int) -> None:
        self.code = code
        self.offset = offset if offset >= 0 else ~offset
        self.in_rule = offset < 0  # what was computed there is part of the derivative of this expression

    @classmethod
    def here(cls) -> Location:
        """The user's line that is being executed now."""
        frame = user_frame(2)
        return cls(None, 0) if frame is None else cls(frame.f_code, frame.f_lasti)

    @cached_property
    def positions(self) -> _Positions:
        """First and last line, and the byte offsets in them, of the sub-expression; None where it is not known."""
        if self.code is None:
            return None, None, None, None
        table = _table_of(self.code)
        index = self.offset // 2
        return table[index] if 0 <= index < len(table) else (self.code.co_firstlineno, None, None, None)

    @property
    def file(self) -> str:
        return "<unknown>" if self.code is None else self.code.co_filename

    @property
    def line(self) -> int:
        return self.positions[0] or (self.code.co_firstlineno if self.code is not None else 0)

    @cached_property
    def source(self) -> str:
        """The whole line, without its indentation and end."""
        return linecache.getline(self.file, self.line).strip()

    @cached_property
    def columns(self) -> tuple[int, int] | None:
        """First and one-past-last column of the sub-expression in `source`; None where they are not known."""
        line, end_line, start, end = self.positions
        text = linecache.getline(self.file, self.line)
        if start is None or end is None or not text:
            return None
        raw = text.encode()
        if end_line != line:
            end = len(raw.rstrip())
        indent = len(text) - len(text.lstrip())
        columns = len(raw[:start].decode()) - indent, len(raw[:end].decode()) - indent
        return columns if 0 <= columns[0] < columns[1] else None

    @property
    def segment(self) -> str:
        """The sub-expression, exactly as the user wrote it; the whole line where columns are not known."""
        if self.columns is None:
            return self.source
        return self.source[self.columns[0] : self.columns[1]]

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}" if self.line else "an unknown line"

    def show(self) -> str:
        """The place and the source line, with the sub-expression underlined."""
        if not self.source:
            return f"  {self}"
        head = f"  {self}   "
        lines = [head + self.source]
        if self.columns is not None:
            lines.append(" " * (len(head) + self.columns[0]) + "~" * (self.columns[1] - self.columns[0]))
        return "\n".join(lines)

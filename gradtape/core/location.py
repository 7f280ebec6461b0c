"""Which line and columns of the user's code an operation came from.

While the program runs, a place is only a code object and an instruction offset (two attribute reads). It is turned
into a file, a line, columns and the text of the sub-expression when these are read.
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
from typing import Any, NamedTuple

import numpy as np

from gradtape.forking import cached_property, lazy_packages
from gradtape.source_names import name_of_file

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SITE = os.path.dirname(os.path.dirname(os.path.abspath(np.__file__)))
_NEIGHBOURS = (
    *("numpy", "scipy", "torch", "jax", "sklearn", "einops", "opt_einsum", "array_api_compat", "pytensor"),
    *("dask", "distributed", "cloudpickle"),
)
_LIBRARY_FOLDERS = tuple(os.path.join(_SITE, name) + os.sep for name in _NEIGHBOURS)
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep

user_files: set[str] = set()
"""Files that are known not to be library code: the fast path looks here first."""

hidden_frames: set[CodeType] = set()
"""Functions that only hand a call on: an operation counts as called by their caller."""

_own_packages = {"gradtape": _PACKAGE + os.sep}
"""The import packages of gradtape's distributions, each with its folder."""


def register_own_package(name: str, folder: str) -> None:
    """Treat the import package `name` as gradtape's own: messages skip its frames, jit does not look into it.

    A distribution that is built on gradtape and imitates or extends it calls this when it is imported.
    """
    _own_packages[name] = os.path.abspath(folder) + os.sep
    lazy_packages.add(name)
    is_library.cache_clear()
    user_files.clear()


_library_folders: set[str] = set()
"""Folders of other libraries whose programs are being watched."""


def register_library_folder(folder: str) -> bool:
    """Treat the files in a folder as a library's, whose frames are not the user's; False if they were before."""
    path = os.path.abspath(folder) + os.sep
    if path in _library_folders:
        return False
    _library_folders.add(path)
    is_library.cache_clear()
    user_files.clear()
    return True


def forget_library_folder(folder: str) -> None:
    """Undo `register_library_folder`."""
    _library_folders.discard(os.path.abspath(folder) + os.sep)
    is_library.cache_clear()
    user_files.clear()


generated_files: dict[str, Callable[[CodeType, int], tuple[CodeType | None, int]]] = {}
"""Files that a library has generated from the user's code, each with what finds the place in the user's own file."""


def is_own_module(name: str) -> bool:
    """Whether a module, by its full name, is of gradtape or of a package registered with `register_own_package`."""
    return name.partition(".")[0] in _own_packages


def is_own_file(filename: str) -> bool:
    """The same for a file of source code."""
    return os.path.abspath(filename).startswith(tuple(_own_packages.values()))


def is_watched_file(filename: str) -> bool:
    """Whether a file is in a folder registered with `register_library_folder`, and not gradtape's own."""
    return os.path.abspath(filename).startswith(tuple(_library_folders)) and not is_own_file(filename)


@functools.cache
def is_library(filename: str) -> bool:
    """Whether a file is gradtape's, Python's or of a library that calls it, so that its frames are not the user's."""
    path = os.path.abspath(filename)
    library = (
        filename.startswith("<frozen ")
        or is_own_file(path)
        or path.startswith(_LIBRARY_FOLDERS)
        or path.startswith(tuple(_library_folders))
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


class LocationOverride:
    """Says that operations executed below a frame of `code` get the location of `node`, not that of the user's frame.

    There is one subclass for each function that makes overrides. The overrides of a thread are linked by `outer`, from
    the innermost on. Where `is_recorded` is false, nodes get no location from the override; traced instructions and
    explanations do.
    """

    __slots__ = ("is_recorded", "node", "outer")

    code: CodeType
    is_rule = False  # whether the operations are those of the node's gradient rule
    node: Any
    outer: LocationOverride | None
    is_recorded: bool


class _Overrides(threading.local):
    innermost: LocationOverride | None = None


overrides = _Overrides()


class RuleFrame(NamedTuple):
    """The location of what a gradient rule computes: that of the operation whose rule it is, in the form of a frame.

    The offset is the complement of the operation's own, so that the two can be told apart.
    """

    f_code: CodeType | None
    f_lasti: int


def call_at(node: Any, function: Callable[..., Any], *given: Any) -> Any:
    """Call `function`; the operations that it executes get the location of `node`, as if they were called there."""
    override = _CallOverride()
    override.node, override.is_recorded = node, True
    override.outer, overrides.innermost = overrides.innermost, override
    try:
        return function(*given)
    finally:
        overrides.innermost = override.outer


class _CallOverride(LocationOverride):
    __slots__ = ()
    code = call_at.__code__


def first_user_frame(frame: FrameType | None) -> Any:
    """`frame`, or the innermost caller that is not a library's; where its location is overridden, a `RuleFrame`."""
    override = overrides.innermost
    while frame is not None and is_library(frame.f_code.co_filename):
        if override is not None and frame.f_code is override.code:
            node = override.node
            if override.is_recorded and node is not None:
                offset = ~node.offset if override.is_rule and node.offset >= 0 else node.offset
                return RuleFrame(node.code, offset)
            override = override.outer
        frame = frame.f_back
    return frame


def location_of_running_rule() -> Location | None:
    """The location of the operation whose gradient rule is being executed; None if no rule is, or a custom one."""
    override = overrides.innermost
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and override is not None and is_library(frame.f_code.co_filename):
        if frame.f_code is override.code:
            if override.is_rule:
                node = override.node
                return None if node is None or node.code is None else Location(node.code, node.offset)
            override = override.outer
        frame = frame.f_back
    return None


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
    """The positions of all instructions of `code`, computed once. By identity, because hashing code is slow."""
    entry = _tables.get(id(code))
    if entry is None:
        if len(_tables) >= TABLES_AT_MOST:
            del _tables[next(iter(_tables))]
        entry = _tables[id(code)] = (code, _positions_in(code))  # holds the code, so that its id stays
    return entry[1]


class Location:
    """A place in the user's source: `file`, `line`, columns, and the sub-expression as it was written.

    >>> from gradtape.core.location import Location
    >>> where = Location.here()
    >>> where.segment
    'Location.here()'
    """

    def __init__(self, code: CodeType | None, offset: int) -> None:
        if code is not None and code.co_filename in generated_files:
            found, place = generated_files[code.co_filename](code, offset if offset >= 0 else ~offset)
            code, offset = found, place if offset >= 0 else ~place
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
    def is_known(self) -> bool:
        """Whether there is any code of the user's at this location."""
        return self.code is not None

    @property
    def file(self) -> str:
        """The name of the source file; "<unknown>" without code."""
        return "<unknown>" if self.code is None else self.code.co_filename

    @property
    def line(self) -> int:
        """The line of the expression; that of the function if the position was not compiled in."""
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
        return f"{name_of_file(self.file)}:{self.line}" if self.line else "an unknown line"

    def show(self) -> str:
        """The place and the source line, with the sub-expression underlined."""
        if not self.source:
            return f"  {self}"
        head = f"  {self}   "
        lines = [head + self.source]
        if self.columns is not None:
            lines.append(" " * (len(head) + self.columns[0]) + "~" * (self.columns[1] - self.columns[0]))
        return "\n".join(lines)

"""Impure reads of a function, detected while it is traced: the clock, the environment, files, unseeded randomness.

None of that can be read again by a program, or compared: a function that does so is run as it is. Python's profiler
hook shows the calls, and is set only where the code has the name of something that reads.
"""

from __future__ import annotations

import builtins
import datetime
import dis
import functools
import gc
import importlib
import inspect
import io
import logging
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from random import SystemRandom
from typing import Any

import numpy as np

from gradtape.core.location import Location, is_library, is_own_module
from gradtape.jit.errors import Untraceable

_NAMESPACES = frozenset({builtins.eval, builtins.exec, builtins.globals, builtins.__import__, sys._getframe})
_READERS = frozenset(
    {builtins.open, builtins.input, np.fromfile, sys._current_frames, gc.get_objects, gc.get_referrers}
)
_SETTINGS = frozenset(
    [
        *(sys.getrecursionlimit, sys.getswitchinterval, sys.getrefcount, sys.gettrace, sys.getprofile, sys.exc_info),
        *(gc.isenabled, gc.get_count, gc.get_threshold, gc.get_debug, gc.get_stats, weakref.getweakrefcount),
    ]
)
"""Native functions that return a setting or a count of the process, which no guard compares."""
_LOGGER_STATE = frozenset({"level", "disabled", "handlers", "filters", "propagate", "parent"})
"""Attributes of a logger: code that has one of these names reads the logger that `getLogger` returns."""
_MODULES = frozenset({"time", "posix", "nt", "_socket", "_locale", "_posixsubprocess", "_sqlite3", "_uuid", "resource"})
"""Native modules whose functions tell about the world outside of the program."""
_EFFECTS = frozenset(
    [
        *("sleep", "fspath", "write", "fsync", "close", "mkdir", "makedirs", "remove", "unlink", "rename", "replace"),
        *("chmod", "rmdir", "register_at_fork", "putenv", "unsetenv", "_exit", "kill"),
    ]
)
_STREAM_READS = frozenset(
    {"read", "read1", "readline", "readlines", "readinto", "getvalue", "getbuffer", "tell", "peek"}
)
_DATES = ("now", "today", "utcnow")
_NAMES = frozenset(
    [
        *(function.__name__ for function in (*_NAMESPACES, *_READERS, *_SETTINGS)),
        *_DATES,
        *_STREAM_READS,
        *("environ", "environb", "getenv", "default_rng", "RandomState", "SeedSequence", "urandom", "uuid4", "uuid1"),
        # not `stack`, which is a function of NumPy's too: code that reads frames by it has the name of its module
        *("import_module", "currentframe", "inspect", "current_thread", "get_ident", "getcontext", "localcontext"),
        *("load", "loadtxt", "genfromtxt", "memmap", "read_text", "read_bytes", "read_csv", "getline", "getlines"),
        *("copy_context", "localeconv", "getlocale", "getmodule", "import_from", "check_output", "urlopen"),
        *("geterr", "geterrcall", "get_printoptions", "getbufsize", "active_count", "isEnabledFor", "hasHandlers"),
        *("getLogger", "getEffectiveLevel"),
    ]
)
_PACKAGES = frozenset(
    [
        *("time", "os", "posix", "nt", "io", "_io", "pathlib", "shutil", "glob", "tempfile", "subprocess", "socket"),
        *("ssl", "select", "urllib", "http", "sqlite3", "dbm", "shelve", "importlib", "inspect", "platform", "getpass"),
        *("locale", "decimal", "contextvars", "_contextvars", "uuid", "secrets", "resource", "linecache", "fileinput"),
        *("mmap", "threading", "_thread"),
    ]
)
"""Modules with functions that read the world: code that names something of theirs is watched while it is traced."""
_ENTROPY = SystemRandom.getrandbits.__code__
_ASKED: dict[types.CodeType, str] = {
    **{f.__code__: "the environment" for f in vars(type(os.environ)).values() if isinstance(f, types.FunctionType)},
    importlib.import_module.__code__: "a module by a name that is not in the code",
    inspect.currentframe.__code__: "the names of other functions",
    inspect.stack.__code__: "the names of other functions",
    inspect.getmodule.__code__: "a module by a name that is not in the code",
    threading.current_thread.__code__: "the thread that it runs in",
    threading.active_count.__code__: "the number of threads",
    threading.enumerate.__code__: "the threads of the process",
    **{
        inspect.unwrap(function).__code__: f"a setting of NumPy's (by {function.__name__})"
        for function in (np.geterr, np.geterrcall, np.get_printoptions, np.getbufsize)
    },
    **{
        function.__code__: "the level of a logger"
        for function in (logging.Logger.isEnabledFor, logging.Logger.getEffectiveLevel, logging.Logger.hasHandlers)
    },
    logging.getLogger.__code__: "the state of a logger",
}
_PASSED = ("linecache", "tokenize", "warnings", "traceback", "logging", "importlib._bootstrap", "zipimport")
"""Modules that read files and frames for reasons of their own, as ours do: that is no reading of the function's."""
DYNAMIC_ATTRIBUTES = frozenset(
    {"getattr", "hasattr", "vars", "dir", "__dict__", "__getattribute__", "attrgetter", "AttributeError", "getmembers"}
)
"""Names of what reads attributes by names that are not in the code, or reads that there is none."""
REACHED_AT_MOST = 256


class ImpureReads:
    """The first impure read of a function: its program cannot repeat it."""

    def __init__(self) -> None:
        self.what = ""
        self.place: Location | None = None
        self.drew = False  # whether random numbers come from a generator that the function made itself

    def record(self, frame: types.FrameType, what: str) -> None:
        """Keep the first impure read and its line, for the message."""
        if self.place is None:
            self.what, self.place = what, Location(frame.f_code, frame.f_lasti)

    def check(self) -> None:
        """Raise `Untraceable` if an impure read was recorded that a compiled program could not repeat."""
        if self.drew:
            raise Untraceable(
                "it makes a generator of random numbers anew, and what it draws would be the same in every call. "
                "Draw outside and pass the numbers in, or give the generator a seed"
            )
        if self.place is not None:
            raise Untraceable(
                f"it reads {self.what}, which may be something else in each call. Do that outside, and pass what it "
                f"gives in as an array",
                self.place,
            )


@contextmanager
def watch_impure_reads(functions: Iterable[types.FunctionType]) -> Iterator[ImpureReads]:
    """Watch `functions` for impure reads, if their code names something impure: most does not, and costs nothing."""
    reads = ImpureReads()
    codes = _find_codes_to_watch(functions)
    before = sys.getprofile()
    if not codes:
        yield reads
        return
    if before is not None and not isinstance(before, types.FunctionType | types.MethodType):
        raise Untraceable(
            "a profiler is on that does not let others see which functions are called, and this one may read the "
            "clock, files or the environment. Profile it without jit"
        )
    sys.setprofile(_observer(reads, codes, before))
    try:
        yield reads
    finally:
        sys.setprofile(before)


def _observer(reads: ImpureReads, codes: dict[int, types.CodeType], before: Any) -> Callable[..., None]:
    """The profiler hook that is called for each call while a function is traced."""

    def observe(frame: types.FrameType, event: str, argument: Any) -> None:
        if before is not None:
            before(frame, event, argument)
        if event == "c_call":
            what = _describe_read(argument)
            if what is not None and (asking := _find_user_frame(frame, codes)) is not None:
                reads.record(asking, what)
        elif event == "call" and (frame.f_code is _ENTROPY or frame.f_code in _ASKED):
            asking = _find_user_frame(frame.f_back, codes)
            if asking is not None and frame.f_code is _ENTROPY:
                reads.drew = True
            elif asking is not None and _reads_result(frame.f_code, asking.f_code):
                reads.record(asking, _ASKED[frame.f_code])

    return observe


def _reads_result(called: types.CodeType, caller: types.CodeType) -> bool:
    """Whether code that calls a function reads what it returns: most code that has a logger only writes to it."""
    return called is not logging.getLogger.__code__ or not _LOGGER_STATE.isdisjoint(caller.co_names)


def _describe_read(function: Any) -> str | None:
    """What a native function reads from outside the program (clock, file, ...), for messages; None if nothing."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(owner, type):
        return "the clock" if name in _DATES and issubclass(owner, datetime.date) else None
    if isinstance(owner, io.IOBase):
        return "a file" if name in _STREAM_READS else None
    if not isinstance(function, types.BuiltinFunctionType) or not isinstance(owner, types.ModuleType | None):
        return None
    if function in _NAMESPACES:
        return f"names that are not in its code (by {name})"
    if function in _READERS:
        return "what is typed" if name == "input" else "a file" if name in ("open", "fromfile") else "other objects"
    if function in _SETTINGS:
        return f"the state of the process (by {name})"
    module = function.__module__
    if module in _MODULES and name not in _EFFECTS:
        return "the clock" if module == "time" else f"the state of the system (by {name})"
    if name in ("get_ident", "get_native_id", "getcontext", "copy_context", "localcontext"):
        return f"the state of the thread that it runs in (by {name})"
    return None


def _find_user_frame(frame: types.FrameType | None, codes: dict[int, types.CodeType]) -> types.FrameType | None:
    """The user's frame that a call comes from, skipping a few frames of the standard library."""
    for _ in range(12):
        if frame is None or id(frame.f_code) in codes:
            return frame
        module = str(frame.f_globals.get("__name__"))
        if is_own_module(module) or any(module == name or module.startswith(f"{name}.") for name in _PASSED):
            return None
        frame = frame.f_back
    return None


def _find_codes_to_watch(functions: Iterable[types.FunctionType]) -> dict[int, types.CodeType]:
    """The code objects, by id, that mention the name of an impure function or module."""
    found: dict[int, types.CodeType] = {}
    for function in functions:
        held = [cell.cell_contents for cell in function.__closure__ or () if _is_bound(cell)]
        is_held = any(map(_is_impure, held))
        for code in codes_of(function.__code__):
            if is_held or _mentions(code, function.__globals__):
                found[id(code)] = code
    return found


def _mentions(code: types.CodeType, scope: dict[str, Any]) -> bool:
    """Whether code mentions an impure function or module, under its own name or an alias."""
    if not _NAMES.isdisjoint(code.co_names):
        return True
    return any(name in scope and _is_impure(scope[name]) for name in code.co_names)


def _is_impure(value: Any) -> bool:
    """Whether a value is an impure module, or belongs to one."""
    if isinstance(value, types.ModuleType):
        module = value.__name__
    elif isinstance(value, types.FunctionType | types.BuiltinFunctionType | type):
        if isinstance(value, types.BuiltinFunctionType) and (
            value in _NAMESPACES or value in _READERS or value in _SETTINGS
        ):
            return True
        if isinstance(value, types.FunctionType) and getattr(inspect.unwrap(value), "__code__", None) in _ASKED:
            return True
        module = getattr(value, "__module__", None) or ""
    else:
        module = type(value).__module__
    return str(module).partition(".")[0] in _PACKAGES


def is_reader(value: Any) -> bool:
    """Whether a value is a native function that reads from outside the program."""
    return isinstance(value, types.BuiltinFunctionType) and _describe_read(value) is not None


def advances_iterator(function: types.FunctionType, name: Any, value: Any) -> bool:
    """Whether a function advances an iterator that outlives the call. Files do not count: they may be written to.

    `name` is that of a global, which may be one of an attribute only, or None for what is in its closure.
    """
    kind = type(value)
    if not hasattr(kind, "__next__") or kind in weakref.ProxyTypes or isinstance(value, io.IOBase):
        return False
    steps = (step for code in codes_of(function.__code__) for step in dis.get_instructions(code))
    return name is None or any(step.opname == "LOAD_GLOBAL" and step.argval == name for step in steps)


def within_reach(function: Any) -> Iterator[types.FunctionType]:
    """The user's functions that `function` is, or reaches by name; some of them, where there are very many."""
    seen: set[int] = set()
    pending = [function]
    while pending and len(seen) < REACHED_AT_MOST:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.FunctionType):
            pending += [cell.cell_contents for cell in value.__closure__ or () if _is_bound(cell)]
            if not is_library(value.__code__.co_filename):
                names = value.__globals__
                yield value
                pending += [names[name] for part in codes_of(value.__code__) for name in part.co_names if name in names]
        elif isinstance(value, types.MethodType):
            pending += [value.__func__, value.__self__]
        elif isinstance(value, functools.partial):
            pending.append(value.func)
        elif hasattr(type(value), "traced_function"):
            pending.append(value.traced_function)
        elif not isinstance(value, type | types.ModuleType):
            pending += functions_of(value)


def functions_of(value: Any) -> list[types.FunctionType]:
    """The user's functions that a value is, wraps or has as methods."""
    plain = getattr(value, "__func__", value)
    if isinstance(plain, types.FunctionType):
        return [] if is_library(plain.__code__.co_filename) else [plain]
    members = [member for base in type(value).__mro__ for name, member in vars(base).items() if name != "__init__"]
    functions = [member for member in members if isinstance(member, types.FunctionType)]
    return [function for function in functions if not is_library(function.__code__.co_filename)]


def _is_bound(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects of a function and of the functions defined inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)

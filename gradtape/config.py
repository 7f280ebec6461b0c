"""Settings of the library, and the environment variables that they start from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from gradtape.errors import OperandError

CHECKS = ("off", "verify", "memory")


@dataclass(slots=True)
class Config:
    """What can be switched.

    >>> import gradtape as gt
    >>> gt.config.locations
    True

    `threads` and `native_features` start from the environment variables GRADTAPE_THREADS and GRADTAPE_NATIVE_FEATURES.
    """

    locations: bool = True
    """Remember the user's line of every recorded operation. Off, messages lose their lines and 0.1 us an operation."""

    native: bool = True
    """Run what `jit` compiles as native code, through LLVM, where there is some. Off, NumPy computes everything."""

    threads: int | None = None
    """Over how many threads native code splits large loops; None: one for each core. No result depends on it."""

    native_features: str = ""
    """Instruction sets that native code is to do without, or with, as in `"-avx512f,-avx2,-fma"`."""

    check: str = "off"
    """What `jit` checks about itself, for tests and bug reports: "off", nothing; "verify", its programs after every
    stage of the compiler; "memory", also every access of native code to memory, which is slow. The environment variable
    `GRADTAPE_CHECK` sets it from the start."""

    cache_dir: str | PathLike[str] | None = None
    """A directory, private to the user, in which native code is kept for later processes; None: it is not kept."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _WANTED and not _WANTED[name][0](value):
            raise OperandError(f"gt.config.{name} = {value!r}; {_WANTED[name][1]} wanted")
        if name == "cache_dir" and value is not None:
            from gradtape import trusted_files  # lazy: few programs keep code on disk

            value = str(trusted_files.cache_directory_with_secret(value))
        object.__setattr__(self, name, value)
        for function in _listeners.get(name, ()):
            function()


_listeners: dict[str, list[Callable[[], None]]] = {}


def on_change(name: str, function: Callable[[], None]) -> Callable[[], None]:
    """Have `function` called whenever the setting of this name was set, until the function that is returned is called.

    >>> from gradtape.config import config, on_change
    >>> stop = on_change("locations", lambda: print(config.locations))
    >>> config.locations = True
    True
    >>> stop()
    >>> config.locations = True
    """
    listeners = _listeners.setdefault(name, [])
    listeners.append(function)
    return lambda: listeners.remove(function)


def _is_path(value: Any) -> bool:
    return value is None or (isinstance(value, str | PathLike) and bool(str(value)))


def _is_count(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1)


def _has_signs(value: Any) -> bool:
    return isinstance(value, str) and all(re.fullmatch(r"[+-][\w.-]+", part) for part in value.split(",") if part)


_WANTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "check": (lambda value: value in CHECKS, '"off", "verify" or "memory" is'),
    "threads": (_is_count, "an integer of at least 1, or None for one for each core, is"),
    "native_features": (_has_signs, 'names of instruction sets with a sign, as in "-avx512f,-avx2", are'),
    "cache_dir": (_is_path, "a path, or None to keep nothing on disk, is"),
}


_COUNT_WANTED = "an integer of at least 1, as in GRADTAPE_THREADS=2, is"
_FEATURES_WANTED = (
    "names of instruction sets with a sign, separated by commas, as in GRADTAPE_NATIVE_FEATURES=-avx512f,-avx2, are"
)

_CHECK_WANTED = '"off", "verify" or "memory" is'


def from_environment(variables: Mapping[str, str]) -> Config:
    """The settings that a process with these environment variables starts with.

    >>> from gradtape.config import from_environment
    >>> from_environment({"GRADTAPE_THREADS": "2"}).threads
    2
    """
    made = Config()
    if threads := variables.get("GRADTAPE_THREADS", ""):
        number = int(threads) if threads.isdecimal() else None
        if not number:
            raise _not_accepted("GRADTAPE_THREADS", threads, _COUNT_WANTED)
        made.threads = number
    if features := variables.get("GRADTAPE_NATIVE_FEATURES", ""):
        if not _has_signs(features):
            raise _not_accepted("GRADTAPE_NATIVE_FEATURES", features, _FEATURES_WANTED)
        made.native_features = features
    if check := variables.get("GRADTAPE_CHECK", ""):
        if check not in CHECKS:
            raise _not_accepted("GRADTAPE_CHECK", check, _CHECK_WANTED)
        made.check = check
    return made


def _not_accepted(name: str, value: str, wanted: str) -> OperandError:
    return OperandError(
        f"the environment variable {name} is {value!r}; {wanted} accepted\n"
        f"  fix: set it to one of those, or unset {name} to keep the default"
    )


config: Config = from_environment(os.environ)

"""Native code on disk: what LLVM has made once is read again by later processes, if `gt.config.cache_dir` is set.

An entry is a file that is named for everything its contents depend on: the text given to LLVM (with every constant,
dtype and shape in it), the CPU and its instruction sets, the passes, and the versions of gradtape, NumPy, llvmlite and
LLVM. It holds object code behind a checksum of both name and contents; one that is cut off, changed or under another
name is made again. Files appear whole or not at all, so that any number of processes can share a directory. Nothing in
it is ever unpickled. Yet it is code, and will be run: a directory that others can write to is refused.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import struct
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.config import config
from gradtape.errors import OperandError
from gradtape.forking import fork_safe
from gradtape.jit.refusing import complain

ENDING = ".gradtape"
BYTES_AT_MOST = 1 << 29
"""What a directory may hold in all; entries that were not used for longest go first."""
BETWEEN_SWEEPS = 64  # entries written, after which it is looked at again

_MAGIC = b"gradtape native code 1\n"
_HEADER = struct.Struct(f"<{len(_MAGIC)}s32sQ")
_GROUP_OR_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(slots=True)
class CacheStatistics:
    """What has happened on disk in this process.

    >>> from gradtape.jit.cache import CacheStatistics
    >>> CacheStatistics()
    CacheStatistics(read=0, written=0, rebuilt=0)
    """

    read: int = 0
    """Entries that were found and used."""
    written: int = 0
    """Entries that were not there, and are now."""
    rebuilt: int = 0
    """Entries that were damaged, and were made again."""


statistics = CacheStatistics()
_lock = fork_safe(threading.Lock())
_complained: set[str] = set()


def private(path: Any) -> Path:
    """The directory at `path`, made if it is not there; raises if anybody else could put code there.

    >>> import os, tempfile
    >>> from gradtape.jit.cache import private
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     oct(private(os.path.join(folder, "code")).stat().st_mode)
    '0o40700'
    """
    folder = Path(os.path.abspath(os.path.expanduser(os.fspath(path))))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.stat()
    except OSError as error:
        raise OperandError(f"gt.config.cache_dir = {str(path)!r}; it cannot be used: {error}") from None
    reason = _objection(folder, found)
    if reason:
        raise OperandError(
            f"gt.config.cache_dir = {str(path)!r}; {reason}.\n"
            f"  what is in it is run as native code: a directory is wanted that only you can write to\n"
            f"  fix: chmod 700, or one that is not there yet, which is made so"
        )
    return folder


def _objection(folder: Path, found: os.stat_result) -> str:
    """Why a directory is not safe; empty if it is."""
    if not stat.S_ISDIR(found.st_mode):
        return "that is not a directory"
    if os.name != "posix":  # elsewhere permissions are not in the mode
        return ""
    if found.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    if found.st_mode & _GROUP_OR_OTHERS_WRITE:
        return f"others can write to it (mode {stat.S_IMODE(found.st_mode):o})"
    for parent in folder.resolve().parents:
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"others can put another one in its place ({parent} has mode {stat.S_IMODE(mode):o})"
    return ""


def object_code(parts: Iterable[str], make: Callable[[], bytes]) -> bytes:
    """The object code that depends on `parts` alone: from the disk if it is kept there, else what `make` gives.

    >>> from gradtape.jit.cache import object_code
    >>> object_code(["some text", "some machine"], lambda: b"code")
    b'code'
    """
    if config.cache_dir is None:
        return make()
    key = _key(parts)
    try:
        folder = private(config.cache_dir)  # each time: it is quickly done, and may have been changed
        path = folder / (key.hex() + ENDING)
        image = _read(path, key)
    except (OSError, OperandError) as error:
        _complain_once(f"jit: native code is not read from disk: {error}")
        return make()
    if image is not None:
        with _lock:
            statistics.read += 1
        return image
    image = make()
    try:
        _write(path, key, image)
        _sweep(folder)
    except OSError as error:
        _complain_once(f"jit: native code is not kept on disk: {error}")
    return image


def _key(parts: Iterable[str]) -> bytes:
    found = hashlib.sha256()
    for part in (*_versions(), *parts):
        data = part.encode()
        found.update(struct.pack("<Q", len(data)))
        found.update(data)
    return found.digest()


@functools.cache
def _versions() -> tuple[str, ...]:
    import llvmlite
    import llvmlite.binding as llvm

    import gradtape
    from gradtape.jit.native import compiler

    passes = Path(compiler.__file__).read_text(encoding="utf-8")
    versions = gradtape.__version__, np.__version__, llvmlite.__version__, repr(llvm.llvm_version_info)
    return (*versions, llvm.get_process_triple(), passes)


def _checksum(key: bytes, image: bytes) -> bytes:
    return hashlib.sha256(key + image).digest()


def _read(path: Path, key: bytes) -> bytes | None:
    """The object code in a file; None if it is not there or damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    image = data[_HEADER.size :]
    if len(data) >= _HEADER.size:
        magic, checksum, length = _HEADER.unpack_from(data)
        if magic == _MAGIC and length == len(image) and checksum == _checksum(key, image):
            with contextlib.suppress(OSError):  # a directory that can only be read is good enough
                os.utime(path)
            return image
    with _lock:
        statistics.rebuilt += 1
    return None


def _write(path: Path, key: bytes, image: bytes) -> None:
    """Make an entry, whole: a name that is seen has all of its contents, whoever else writes it at the same time."""
    handle, name = tempfile.mkstemp(prefix=".new-", suffix=ENDING, dir=path.parent)  # readable by the user alone
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_HEADER.pack(_MAGIC, _checksum(key, image), len(image)) + image)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    with _lock:
        statistics.written += 1


def _sweep(folder: Path) -> None:
    """Now and then, remove what was not used for longest, until the rest is small enough."""
    if statistics.written % BETWEEN_SWEEPS and statistics.written > 1:
        return
    entries = []
    for path in folder.glob(f"*{ENDING}"):
        with contextlib.suppress(FileNotFoundError):  # another process was quicker
            found = path.stat()
            entries.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= BYTES_AT_MOST:
            break
        path.unlink(missing_ok=True)
        total -= size


def _complain_once(message: str) -> None:
    with _lock:
        first = message not in _complained
        _complained.add(message)
    if first:
        complain(message)

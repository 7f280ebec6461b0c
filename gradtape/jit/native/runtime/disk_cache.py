"""Native code on disk: what LLVM has made once is read again by later processes, if `gt.config.cache_dir` is set.

An entry is a file that is named for everything its contents depend on: the text given to LLVM (with every constant,
dtype and shape in it), the CPU and its instruction sets, the passes, and the versions of gradtape, NumPy, llvmlite and
LLVM. It holds object code behind an HMAC of both name and contents, with a key that only the user can read; one that is
cut off, changed, under another name or written by another user is made again. Files appear whole or not at all, so that
any number of processes of one user can share a directory. Nothing in it is ever unpickled. Yet it is code, and will be
run: a directory that others can write to is refused as well, and so is a file of theirs
(`gradtape.trusted_files`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import struct
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradtape import trusted_files
from gradtape.config import config
from gradtape.errors import OperandError
from gradtape.forking import fork_safe
from gradtape.jit.errors import warn

ENDING = ".gradtape"
BYTES_AT_MOST = 1 << 29
"""What a directory may hold in all; entries that were not used for longest go first."""
BETWEEN_SWEEPS = 64  # entries written, after which it is looked at again

_MAGIC = b"gradtape native code 2\n"
_HEADER = struct.Struct(f"<{len(_MAGIC)}s32sQ")


@dataclass(slots=True)
class CacheStatistics:
    """What has happened on disk in this process.

    >>> from gradtape.jit.native.runtime.disk_cache import CacheStatistics
    >>> CacheStatistics()
    CacheStatistics(read=0, written=0, rebuilt=0)
    """

    read: int = 0
    """Entries that were found and used."""
    written: int = 0
    """Entries that were not there, and are now."""
    rebuilt: int = 0
    """Entries that were damaged or not the user's own, and were made again."""


statistics = CacheStatistics()
_lock = fork_safe(threading.Lock())
_complained: set[str] = set()


def object_code(parts: Iterable[str], make: Callable[[], bytes]) -> bytes:
    """The object code that depends on `parts` alone: from the disk if it is kept there, else what `make` gives.

    >>> from gradtape.jit.native.runtime.disk_cache import object_code
    >>> object_code(["some text", "some machine"], lambda: b"code")
    b'code'
    """
    if config.cache_dir is None:
        return make()
    key = _key(parts)
    try:
        folder = trusted_files.cache_directory(config.cache_dir)  # each time: its mode may have been changed
        secret = trusted_files.secret()
        path = folder / (key.hex() + ENDING)
        image = _read(path, key, secret)
    except (OSError, OperandError) as error:
        _warn_once(f"jit: native code is not read from disk: {error}")
        return make()
    if image is not None:
        with _lock:
            statistics.read += 1
        return image
    image = make()
    try:
        _write(path, key, image, secret)
        _sweep(folder)
    except OSError as error:
        _warn_once(f"jit: native code is not kept on disk: {error}")
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
    from gradtape.jit.native.runtime import llvm as compiler

    passes = Path(compiler.__file__).read_text(encoding="utf-8")
    versions = gradtape.__version__, np.__version__, llvmlite.__version__, repr(llvm.llvm_version_info)
    return (*versions, llvm.get_process_triple(), passes)


def _seal(key: bytes, image: bytes, secret: bytes) -> bytes:
    """What only those can compute who know the secret."""
    return hmac.digest(secret, key + image, "sha256")


def _read(path: Path, key: bytes, secret: bytes) -> bytes | None:
    """The object code in a file; None if it is not there, damaged, or not what this user has written."""
    try:
        data = trusted_files.read(path)
    except FileNotFoundError:
        return None
    except trusted_files.Untrusted:
        data = b""
    image = data[_HEADER.size :]
    if len(data) >= _HEADER.size:
        magic, seal, length = _HEADER.unpack_from(data)
        if magic == _MAGIC and length == len(image) and hmac.compare_digest(seal, _seal(key, image, secret)):
            with contextlib.suppress(OSError):  # a directory that can only be read is good enough
                os.utime(path)
            return image
    with _lock:
        statistics.rebuilt += 1
    return None


def _write(path: Path, key: bytes, image: bytes, secret: bytes) -> None:
    """Write an entry atomically: a file of that name is always complete, even if several processes write it."""
    handle, name = tempfile.mkstemp(prefix=".new-", suffix=ENDING, dir=path.parent)  # readable by the user alone
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_HEADER.pack(_MAGIC, _seal(key, image, secret), len(image)) + image)
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


def _warn_once(message: str) -> None:
    with _lock:
        first = message not in _complained
        _complained.add(message)
    if first:
        warn(message)

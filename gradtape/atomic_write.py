"""Atomic writes: at every moment a file has its old content or its new content, complete.

The content goes to a temporary file in the same directory, which then takes the name of the target. A process that is
killed meanwhile leaves its temporary file behind. The name of that file follows from the target's, and its owner holds
a lock on it, which ends with the process: the next write to the same target removes what is left over, and nothing that
is still being written.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from itertools import count
from typing import BinaryIO, Literal

_Lock = Literal["taken", "held", "unknown"]
"""What came of locking a file: it is ours, it is another's, or the file system has no locks."""
PathLike = str | os.PathLike[str]
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_LONGEST = 200  # bytes of a name; with the rest of the name of a temporary file, less than file systems allow
_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)


def write_atomically(path: PathLike, content: bytes) -> None:
    """Write `content` to the file at `path`, completely or not at all, and have it on the disk when this returns.

    A new file has the permissions that the umask gives it, and one that was there keeps its own. If `path` is a
    symbolic link, the file that it points to is written. Pipes and devices are written to directly.

    >>> import os, tempfile
    >>> from gradtape.atomic_write import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(os.path.join(folder, "a"), b"numbers")
    ...     os.listdir(folder)
    ['a']
    """
    replaced = _status(path)
    if _is_stream(path, replaced):
        with open(path, "wb") as stream:
            stream.write(content)
        return
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise OSError(errno.ELOOP, "the symbolic links lead back to themselves", os.fspath(path))
    if replaced is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", os.fspath(path))
    with _temporary_file(target) as (file, temporary):
        if replaced is not None:
            _keep_permissions(file.fileno(), replaced)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        if sys.platform == "win32":  # where a file that is open cannot be renamed
            file.close()
        os.replace(temporary, target)
    _sync_directory(os.path.dirname(target))
    _remove_leftovers(target)


def temporary_names(target: str) -> Iterator[str]:
    """The names for the temporary file of `target`, in the order in which they are tried.

    All but the first are for threads and processes that write to one target at the same time.

    >>> from gradtape.atomic_write import temporary_names
    >>> names = temporary_names("runs/model")
    >>> next(names), next(names)
    ('runs/.model.gradtape-saving', 'runs/.model.gradtape-saving-1')
    """
    folder, name = os.path.split(target)
    if len(os.fsencode(name)) > _LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    first = os.path.join(folder, f".{name}.gradtape-saving")
    yield first
    for number in count(1):
        yield f"{first}-{number}"


def _status(path: PathLike) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_stream(path: PathLike, status: os.stat_result | None) -> bool:
    """Whether `path` is no regular file; /dev/stdout may be one, and is still not to be replaced."""
    if status is None:
        return False
    return not stat.S_ISREG(status.st_mode) or os.path.abspath(path).startswith(("/dev/", "/proc/"))


@contextlib.contextmanager
def _temporary_file(target: str) -> Iterator[tuple[BinaryIO, str]]:
    """A new file beside `target`, locked, and its name; it is removed if the block fails."""
    descriptor, name = next(
        (descriptor, name) for name in temporary_names(target) if (descriptor := _claim(name)) is not None
    )
    with os.fdopen(descriptor, "wb") as file:
        try:
            yield file, name
        except BaseException:
            if file.closed or _is_named(descriptor, name):
                os.unlink(name)
            raise
        finally:
            if not file.closed:
                _unlock(descriptor)


def _claim(name: str) -> int | None:
    """A locked descriptor of a new file; None if the name is that of a file which may be in use."""
    while True:
        try:
            descriptor = os.open(name, _CREATE, 0o666)
        except FileExistsError:
            if not _remove_unlocked(name):
                return None
            continue
        if _lock(descriptor) != "held" and _is_named(descriptor, name):
            return descriptor
        os.close(descriptor)  # taken for a leftover before it was locked


def _remove_unlocked(name: str) -> bool:
    """Remove the file unless it may be in use; whether the name is free then."""
    try:
        if sys.platform == "win32":  # where a file that is open cannot be removed
            os.unlink(name)
            return True
        descriptor = os.open(name, _LOOK)
    except FileNotFoundError:
        return True
    except OSError:  # in use, a symbolic link, or another user's
        return False
    try:
        if _lock(descriptor) == "taken" and _is_named(descriptor, name):
            os.unlink(name)
    except OSError:  # a directory
        return False
    finally:
        os.close(descriptor)
    return not os.path.lexists(name)


def _remove_leftovers(target: str) -> None:
    """Remove what processes that were killed have left, if several wrote to `target` at the same time."""
    first = next(temporary_names(target))
    folder, start = os.path.split(first)
    try:
        names = os.listdir(folder)
    except PermissionError:  # a directory that may be written to but not listed
        return
    for name in names:
        if name.startswith(start) and re.fullmatch(r"(-\d+)?", name[len(start) :]):
            _remove_unlocked(os.path.join(folder, name))


def _is_named(descriptor: int, name: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(name, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _keep_permissions(descriptor: int, replaced: os.stat_result) -> None:
    """Give a file the mode of the one that it replaces, and its owner and group where that is allowed."""
    if sys.platform == "win32":
        return
    mode, made = stat.S_IMODE(replaced.st_mode) & 0o777, os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (replaced.st_uid, replaced.st_gid):
        try:
            os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
        except OSError:
            mode = mode & 0o707 | (mode & 0o007) << 3  # another group has no more rights than all others
    if stat.S_IMODE(made.st_mode) != mode:
        os.fchmod(descriptor, mode)


def _sync_directory(folder: str) -> None:
    """Have the new name on the disk, where directories can be synchronised."""
    if sys.platform == "win32":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # one that may be written to but not listed
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _lock(descriptor: int) -> _Lock:
        return "unknown"

    def _unlock(descriptor: int) -> None:
        return None

else:
    import fcntl

    def _lock(descriptor: int) -> _Lock:
        """Lock a file. A child of `os.fork` shares the lock, and `_unlock` ends it for both."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "held"
        except OSError as error:
            if error.errno in (*_UNSUPPORTED, errno.ENOLCK, errno.ENOSYS):
                return "unknown"
            raise
        return "taken"

    def _unlock(descriptor: int) -> None:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_UN)

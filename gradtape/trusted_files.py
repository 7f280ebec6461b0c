"""Files that no other user can have written, and a secret of the user's own: code that is read from disk is run.

A directory is trusted if it belongs to the user or to root and no other user can write to it, and if the same holds of
all directories above it; one above may let others write if its sticky bit keeps them from exchanging what is in it, as
that of `/tmp` does. They are looked at from the root downwards: what has been looked at cannot be exchanged any more. A
symbolic link on the way has to be one of the user's or root's, and leads to a place of which the same is asked. Files
are looked at when they are open, not before.

Where permissions are not in the mode (Windows), neither owners nor permissions are looked at: what is left is the
secret, which is kept in the user's own `%LOCALAPPDATA%`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from pathlib import Path

from gradtape.errors import OperandError

SECRET_BYTES = 32
LINKS_AT_MOST = 40
_GROUP_OR_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OPENING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Untrusted(OSError):
    """A file or directory that another user can have written or exchanged; its message says why."""


def is_checked() -> bool:
    """Whether owners and permissions are looked at on this system."""
    return os.name == "posix"


def status(place: str | int) -> os.stat_result:
    """What the system says of a path, without following a link, or of an open file."""
    return os.fstat(place) if isinstance(place, int) else os.lstat(place)


def directory(path: str | os.PathLike[str]) -> Path:
    """The directory at `path`, links resolved, and made for the user alone if it is not there.

    Raises `Untrusted` if others can write to it or put another one in its place.

    >>> import os, tempfile
    >>> from gradtape.trusted_files import directory
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     oct(directory(os.path.join(folder, "some", "code")).stat().st_mode)
    '0o40700'
    """
    wanted = os.path.abspath(os.path.expanduser(os.fspath(path)))
    if not is_checked():
        os.makedirs(wanted, mode=0o700, exist_ok=True)
        return Path(wanted)
    missing = _parts(wanted)
    found, links = os.sep, 0
    _check_directory(found, is_last=not missing)
    while missing:
        name = missing.pop()
        if name == os.pardir:  # in a link; the directory above was looked at already
            found = os.path.dirname(found)
            continue
        place = os.path.join(found, name)
        if _find_link_or_make_directory(place):
            links += 1
            if links > LINKS_AT_MOST:
                raise Untrusted(f"there are more than {LINKS_AT_MOST} links on the way ({place})")
            target = os.readlink(place)
            missing += _parts(target)
            found = os.sep if os.path.isabs(target) else found
        else:
            found = place
            _check_directory(found, is_last=not missing)
    _check_directory(found, is_last=True)
    return Path(found)


def _find_link_or_make_directory(place: str) -> bool:
    """Whether there is a link; a directory is made if there is nothing."""
    try:
        found = status(place)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # another process was quicker
            os.mkdir(place, 0o700)
        found = status(place)
    if not stat.S_ISLNK(found.st_mode):
        return False
    if found.st_uid not in _trusted_owners():
        raise Untrusted(f"a link on the way belongs to another user ({place})")
    return True


def _parts(path: str) -> list[str]:
    """The names in a path, the last one first."""
    return [part for part in path.split(os.sep) if part not in ("", os.curdir)][::-1]


def _check_directory(path: str, is_last: bool) -> None:
    found = status(path)
    if not stat.S_ISDIR(found.st_mode):
        raise Untrusted("that is not a directory") if is_last else NotADirectoryError(f"{path} is not a directory")
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid not in _trusted_owners():
        raise Untrusted("it belongs to another user" if is_last else f"{path} above it belongs to another user")
    if mode & _GROUP_OR_OTHERS_WRITE:
        if is_last:
            raise Untrusted(f"others can write to it (mode {mode:o})")
        if not mode & stat.S_ISVTX:
            raise Untrusted(f"others can put another one in its place ({path} has mode {mode:o})")


def _trusted_owners() -> tuple[int, int]:
    return os.geteuid(), 0


def read(path: Path, is_secret: bool = False) -> bytes:
    """The contents of a file in a trusted directory.

    Raises `FileNotFoundError` if it is not there, and `Untrusted` if it is a link or anything else that is no file, is
    another user's, or can be written by others; if `is_secret`, also if others can read it.
    """
    try:
        handle = os.open(path, _OPENING)
    except FileNotFoundError:
        raise
    except OSError as error:  # a link, for one
        raise Untrusted(f"{path} cannot be opened as a file of its own: {error}") from None
    try:
        _check_file(handle, path, is_secret)
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _check_file(handle: int, path: Path, is_secret: bool) -> None:
    found = status(handle)
    if not stat.S_ISREG(found.st_mode):
        raise Untrusted(f"{path} is no file")
    if is_checked():
        mode = stat.S_IMODE(found.st_mode)
        if found.st_uid not in _trusted_owners():
            raise Untrusted(f"{path} belongs to another user")
        if mode & (stat.S_IRWXG | stat.S_IRWXO if is_secret else _GROUP_OR_OTHERS_WRITE):
            raise Untrusted(f"others can {'read' if is_secret else 'write to'} {path} (mode {mode:o})")


def secret() -> bytes:
    """The user's own secret, made when it is first asked for; it is kept where others can neither read nor write.

    It is not kept beside what it authenticates: a directory that was open to others once may hold anything.
    """
    folder = directory(secret_folder())
    path = folder / "cache.key"
    for _ in range(2):
        try:
            found = read(path, is_secret=True)
        except FileNotFoundError:
            _make_secret(path)
            continue
        if len(found) != SECRET_BYTES:
            raise Untrusted(f"{path} has {len(found)} bytes instead of {SECRET_BYTES}; remove it, and it is made again")
        return found
    raise Untrusted(f"{path} is removed as soon as it is made")


def secret_folder() -> str:
    """The directory for the secret: `gradtape` in the user's directory for settings."""
    if os.name == "nt":
        settings = os.environ.get("LOCALAPPDATA") or os.path.expanduser(os.path.join("~", "AppData", "Local"))
    else:
        settings = os.environ.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(settings):  # as the specification of that variable has it
            settings = os.path.expanduser(os.path.join("~", ".config"))
    return os.path.join(settings, "gradtape")


def _make_secret(path: Path) -> None:
    """Make the secret, whole: of several processes that do so at the same time, one succeeds."""
    handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)  # which the user alone can read
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(name, path)  # fails if another process was quicker
        except FileExistsError:
            return
        except OSError:  # a file system without links
            os.rename(name, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def cache_directory(path: str | os.PathLike[str]) -> Path:
    """The directory for native code at `path`, created if necessary; raises if another user could put code there.

    >>> import os, tempfile
    >>> from gradtape.trusted_files import cache_directory
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     oct(cache_directory(os.path.join(folder, "code")).stat().st_mode)
    '0o40700'
    """
    try:
        return directory(path)
    except Untrusted as reason:
        raise OperandError(
            f"gt.config.cache_dir = {str(path)!r}; {reason}.\n"
            f"  what is in it is run as native code: only you may be able to write to it or exchange it\n"
            f"  fix: name a directory that does not exist yet, in your home directory for instance: it is made for you "
            f"alone"
        ) from None
    except OSError as error:
        raise OperandError(f"gt.config.cache_dir = {str(path)!r}; it cannot be used: {error}") from None


def cache_directory_with_secret(path: str | os.PathLike[str]) -> Path:
    """The directory of `cache_directory`; raises also if there is no secret to authenticate its entries with."""
    folder = cache_directory(path)
    try:
        secret()
    except OSError as error:
        raise OperandError(
            f"gt.config.cache_dir = {str(path)!r}; there is no place for the key that its entries are authenticated "
            f"with: {error}.\n"
            f"  it is kept in {secret_folder()}, which only you may be able to write to\n"
            f"  fix: set the environment variable {'LOCALAPPDATA' if os.name == 'nt' else 'XDG_CONFIG_HOME'} to a "
            f"directory of your own, or cache_dir = None"
        ) from None
    return folder

"""A file of finished results: one record for each task, appended when it is done, so that a killed program goes on.

A record is written in one go and is on the disk before the next one begins. What a killed process left of its last
record is cut off when the file is opened again. Results are any Python objects, by pickle, which runs code when it is
read: each record is therefore authenticated by the user's own secret (`gradtape.trusted_files`), and a file that
another user has written is refused unread.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import pickle
import struct
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from gradtape import trusted_files
from gradtape.errors import OperandError
from gradtape.extend import PathLike, argument_error, import_library, write_atomically
from gradtape.nn.storage import check_place, unreadable

MAGIC = b"gradtape results 1\n"
_HEAD = struct.Struct("<QQ")
"""Of a record: the position of the task and the number of bytes of its content."""
_SEAL = 32
_DIGEST = 32


class ResultsFile:
    """The results of one call of `gt.distributed.map`: `results` by position, and `append` for more of them.

    >>> import os, tempfile
    >>> from gradtape.distributed.results_file import ResultsFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "sweep.results")
    ...     with ResultsFile(path, {"function": "run"}, [1, 2]) as file:
    ...         file.append(1, "done")
    ...     with ResultsFile(path, {"function": "run"}, [1, 2]) as file:
    ...         file.results
    {1: 'done'}
    """

    def __init__(self, path: PathLike, facts: Mapping[str, Any], tasks: list[Any]) -> None:
        check_place(path)
        self.path, self.facts, self.tasks = os.fspath(path), dict(facts), tasks
        self.results: dict[int, Any] = {}
        try:
            self._secret = trusted_files.secret()
        except OSError as error:
            raise argument_error(
                OperandError,
                f"gt.distributed.map: checkpoint={self.path!r}, and there is no place for the key that its records are "
                f"authenticated with: {error}.",
                f"a directory of your own as {'LOCALAPPDATA' if os.name == 'nt' else 'XDG_CONFIG_HOME'}",
            ) from None
        self._digests: dict[int, bytes] = {}
        if not os.path.exists(self.path) or not os.path.getsize(self.path):
            described = json.dumps(self.facts, sort_keys=True).encode()
            head = self._head(_HEAD.pack(0, len(described)))
            write_atomically(self.path, MAGIC + head + described + self._seal(head, described))
        self._file = open(self.path, "r+b", buffering=0)  # noqa: SIM115  closed by __exit__
        try:
            _lock(self._file, self.path)
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()

    def append(self, position: int, result: Any) -> None:
        """Add the result of the task at `position`; it is on the disk when this returns."""
        pickler = import_library("cloudpickle", "gt.distributed.map")
        try:
            content = pickler.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise argument_error(
                OperandError,
                f"gt.distributed.map: the result of the task at position {position} is a {type(result).__name__}, "
                f"which cannot be stored in {self.path!r}: {error}.",
                "return numbers, arrays and structures of them; or checkpoint=None",
            ) from None
        head = self._head(_HEAD.pack(position, _DIGEST + len(content)))
        content = self._digest(position) + content
        record = head + content + self._seal(head, content)
        self._file.seek(0, os.SEEK_END)
        written = self._file.write(record)
        while written < len(record):  # a signal or a file system may end a write early
            written += self._file.write(record[written:])
        os.fsync(self._file.fileno())

    # -- reading

    def _head(self, numbers: bytes) -> bytes:
        """The head of a record with a seal of its own: a length that is wrong is not taken for a record cut short."""
        return numbers + self._seal(numbers, b"")

    def _seal(self, head: bytes, content: bytes) -> bytes:
        return hmac.digest(self._secret, b"results" + head + content, "sha256")

    def _digest(self, position: int) -> bytes:
        if position not in self._digests:
            self._digests[position] = digest_of(self.tasks[position])
        return self._digests[position]

    def _read(self) -> None:
        data = memoryview(self._file.readall())
        if bytes(data[: len(MAGIC)]) != MAGIC:
            raise unreadable(
                self.path,
                "this is no file of results of gt.distributed.map",
                "the file that was given as checkpoint= before, or a name that is free",
            )
        header = self._record(data, len(MAGIC))
        if header is None:
            raise unreadable(self.path, "it is cut off", "the file as it was written, or a name that is free")
        _, described, place = header
        self._check_facts(json.loads(bytes(described)))
        while place < len(data):
            record = self._record(data, place)
            if record is None:  # what was being written when the process ended
                self._file.truncate(place)
                os.fsync(self._file.fileno())
                break
            position, content, place = record
            if position < len(self.tasks):
                if bytes(content[:_DIGEST]) != self._digest(position):
                    raise unreadable(
                        self.path,
                        f"it is of another call: the task at position {position} was another one",
                        "the same tasks in the same order (more may follow), or another file",
                    )
                self.results[position] = pickle.loads(content[_DIGEST:])

    def _record(self, data: memoryview, place: int) -> tuple[int, memoryview, int] | None:
        """Position and content of the record at `place`, and where the next one begins; None if it is cut short."""
        start = place + _HEAD.size + _SEAL
        head = bytes(data[place:start])
        if len(head) < start - place or not any(head):  # zeros: the disk had the new length and not yet the bytes
            return None
        numbers = head[: _HEAD.size]
        self._check_seal(numbers, b"", head[_HEAD.size :])
        position, length = _HEAD.unpack(numbers)
        end = start + length
        if end + _SEAL > len(data):
            return None
        content, seal = data[start:end], bytes(data[end : end + _SEAL])
        if not any(seal) and end + _SEAL == len(data):
            return None
        self._check_seal(head, bytes(content), seal)
        return position, content, end + _SEAL

    def _check_seal(self, head: bytes, content: bytes, seal: bytes) -> None:
        if not hmac.compare_digest(self._seal(head, content), seal):
            raise unreadable(
                self.path,
                "it is damaged, or was not written by this user with the key in "
                f"{trusted_files.secret_folder()}: reading it could run anybody's code",
                "the file as it was written, and the same home directory; or another file, to begin anew",
            )

    def _check_facts(self, theirs: Any) -> None:
        for name, value in self.facts.items():
            if theirs.get(name) != value:
                raise unreadable(
                    self.path,
                    f"it is of another call: its {name} was {theirs.get(name)!r}, and now it is {value!r}",
                    f"the same {name}, or another file",
                )


def digest_of(task: Any) -> bytes:
    """What tells a task from others, the same in every process: by its structure and numbers, not by pickle.

    >>> from gradtape.distributed.results_file import digest_of
    >>> digest_of({"rate": 1.0}) == digest_of({"rate": 1.0}), digest_of(1) == digest_of(1.0)
    (True, False)
    """
    found = hashlib.sha256()

    def add(value: Any) -> None:
        kind = type(value)
        found.update(f"{kind.__module__}.{kind.__qualname__};".encode())
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            found.update(f"{value.dtype.str}{value.shape};".encode())
            found.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, np.generic | int | float | complex | str | bytes) or value is None:
            text = repr(value).encode()
            found.update(struct.pack("<Q", len(text)) + text)
        elif isinstance(value, Mapping):
            found.update(struct.pack("<Q", len(value)))
            for key, item in value.items():
                add(key)
                add(item)
        elif isinstance(value, list | tuple):
            found.update(struct.pack("<Q", len(value)))
            for item in value:
                add(item)
        elif callable(value):
            found.update(f"{getattr(value, '__qualname__', '')};".encode())
        elif hasattr(value, "__dict__"):
            add(vars(value))

    add(task)
    return found.digest()


if sys.platform == "win32":

    def _lock(file: Any, path: str) -> None:
        return None

else:
    import fcntl

    def _lock(file: Any, path: str) -> None:
        """Have the file for this process alone, until it is closed or the process ends."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise unreadable(
                path, "another process is writing results to it", "wait for it to end, or give another file"
            ) from None
        except OSError:  # a file system without locks
            return

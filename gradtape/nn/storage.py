"""Numbers in files: `save` and `load`, in the safetensors format. A file holds arrays by name and short texts, no code.

A file is read whole and checked whole before anything is put anywhere: one that is cut off, damaged, or of another
model is refused, and the model is as it was. Each array and the texts have a checksum, so that a flipped bit is found.
Files without checksums are read as well, unchecked: other libraries write such, and earlier versions did.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.errors import DtypeError, GradTapeError, OperandError
from gradtape.extend import PathLike, argument_error, plain, problem, rebuild, write_atomically
from gradtape.nn.module import Module
from gradtape.nn.names import check_names, checked_array

RUN = "gradtape fit"
"""How the format of a file begins that holds a run of `gt.fit`."""
CHECKSUMS = "gradtape.checksums"
"""The name, among the texts of a file, of its checksums; files of other libraries and of earlier versions have none."""
_VERSION = 1
_INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (64, 32, 16, 8)]
_KINDS = ["float64", "float32", "float16", "complex64", "bool", *_INTEGERS]


class CheckpointError(GradTapeError, ValueError):
    """A file that cannot be loaded: missing, cut off, damaged, or of another model.

    Or one that cannot be written, because its directory is not there.

    >>> import gradtape as gt
    >>> try:
    ...     gt.nn.load("nowhere.safetensors")
    ... except gt.nn.CheckpointError as error:
    ...     print(str(error).splitlines()[0])
    [GT316] load: there is no file nowhere.safetensors
    """


def unreadable(path: PathLike, reason: str, fix: str) -> CheckpointError:
    """The error for a file that is refused."""
    return CheckpointError(
        problem("GT316", f"load: {reason}", fixes=fix, consequence="nothing was loaded", file=os.fspath(path))
    )


def save(path: PathLike, what: Any, metadata: Mapping[str, str] | None = None) -> None:
    """Write a module's `state_dict`, or a nested structure of arrays, to a file; `metadata` are texts by name.

    The file appears complete or not at all: it is written under another name first. It holds checksums, which `load`
    compares. A file that is replaced keeps its permissions, and a symbolic link stays one.

    >>> import numpy as np, gradtape as gt, os, tempfile
    >>> model = gt.nn.Dense(2, 1, rng=np.random.default_rng(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "model.safetensors")
    ...     gt.nn.save(file, model)
    ...     other = gt.nn.load(file, gt.nn.Dense(2, 1))
    >>> bool((other.weight == model.weight).all())
    True
    """
    from gradtape.optim.leaves import named_leaves  # late: most who open gt.nn store nothing

    _check_path(path, "save")
    arrays: dict[str, Any] = {}
    named = what.state_dict().items() if isinstance(what, Module) else named_leaves(what)
    for name, value in named:
        array = np.array(plain(value), order="C")
        if array.dtype.name not in _KINDS:
            raise argument_error(
                DtypeError,
                f"save: {name!r} is a {type(value).__name__} of dtype {array.dtype}; the format has numbers only, and "
                f"of these not all.",
                f"one of {', '.join(_KINDS[:4])}, ...; texts go into metadata",
            )
        if name in arrays:
            raise argument_error(OperandError, f"save: two arrays are called {name!r}.", "keys without dots in them")
        arrays[name or "value"] = array.astype(array.dtype.newbyteorder("="))
    texts = dict(metadata or {})
    if not all(isinstance(key, str) and isinstance(value, str) for key, value in texts.items()):
        raise argument_error(
            OperandError, "save: metadata has something else than texts.", "str(value) or json.dumps(value)"
        )
    write_whole(path, written(arrays, texts))


def _check_path(path: Any, caller: str) -> None:
    if not isinstance(path, str | os.PathLike):
        raise argument_error(
            OperandError,
            f"{caller}: the path is a {type(path).__name__}; the name of a file is accepted.",
            f'the path comes first: gt.nn.{caller}("model.safetensors", model)',
        )


def check_place(path: PathLike) -> None:
    """Raise unless a file can be at `path`: its directory has to be there."""
    folder, where = Path(path).parent, os.fspath(path)
    if Path(path).is_dir():
        raise CheckpointError(problem("GT316", f"save: {where} is a directory", fixes="the name of a file in it"))
    if not folder.is_dir():
        fix = f"os.makedirs({os.fspath(folder)!r}, exist_ok=True) before"
        raise CheckpointError(problem("GT316", f"save: there is no directory {folder} for {where}", fixes=fix))


def write_whole(path: PathLike, content: bytes) -> None:
    """Write a file so that at every moment there is the old one or the new one, complete."""
    check_place(path)
    write_atomically(path, content)


def load(path: PathLike, like: Any = None) -> Any:
    """What was saved: into the module `like`, in the structure of `like`, or as a dictionary of arrays by name.

    Names, shapes and dtypes have to be those of `like`. If anything is wrong with the file, nothing is loaded.
    A module is also loaded from the checkpoint of a run of `gt.fit`, as it was when that was stored.

    >>> import numpy as np, gradtape as gt, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "params.safetensors")
    ...     gt.nn.save(file, {"w": np.ones(2), "layers": [np.zeros(1)]})
    ...     gt.nn.load(file)
    {'layers.0': array([0.]), 'w': array([1., 1.])}
    """
    from gradtape.optim.leaves import named_leaves

    _check_path(path, "load")
    arrays, texts = read(path)
    if like is None:
        return arrays
    try:
        if isinstance(like, Module):
            like.load_state_dict(_of_a_run(arrays) if texts.get("format", "").startswith(RUN) else arrays)
            return like
        wanted = {name or "value": value for name, value in named_leaves(like)}
        check_names("load", "what is asked for", "what is stored", wanted, arrays)
        found = []
        for name, value in wanted.items():
            array = np.asarray(plain(value))
            found.append(checked_array("load", name, arrays[name], array.shape, array.dtype))
        return rebuild(like, found)
    except GradTapeError as error:
        raise unreadable(
            path,
            f"{Path(path).name} is of another model: {error.problem.title.partition(': ')[2]}",
            error.problem.fixes[0] if error.problem.fixes else "the model that was saved",
        ) from None


def _of_a_run(arrays: dict[str, Any]) -> dict[str, Any]:
    """The numbers of the model, among all that is stored of a run."""
    named = [(name.partition("."), array) for name, array in arrays.items()]
    return {name: array for (part, _, name), array in named if part in ("params", "buffers")}


def read(path: PathLike) -> tuple[dict[str, Any], dict[str, str]]:
    """The arrays and the texts of a file, all of it checked."""
    _library()  # without it no file can be read, whether there is one or not
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise unreadable(path, f"there is no file {os.fspath(path)}", "the path that was given to save") from None
    except OSError as error:
        reason = f"{Path(path).name} cannot be read: {error.strerror}"
        raise unreadable(path, reason, "a file that can be read") from None
    return parsed(content, path)


def written(arrays: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> bytes:
    """The content of a file with these arrays and texts, and checksums of them all."""
    held = dict(texts or {})
    if CHECKSUMS in held:
        raise argument_error(
            OperandError, f"save: the name {CHECKSUMS!r} is taken in metadata.", "another name for that text"
        )
    found = {"version": _VERSION, "arrays": {name: _digest(name, x) for name, x in arrays.items()}}
    found["texts"] = _digest_of_texts(held)
    content: bytes = _library().save(dict(arrays), held | {CHECKSUMS: json.dumps(found)})
    return content


def _digest(name: str, array: Any) -> str:
    """A checksum of an array: of its name, dtype, shape and numbers."""
    found = hashlib.sha256(json.dumps([name, array.dtype.name, list(array.shape)]).encode())
    found.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def _digest_of_texts(texts: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(texts.items())).encode()).hexdigest()


def _check_sums(path: PathLike, arrays: Mapping[str, Any], texts: Mapping[str, str], stored: str) -> None:
    """Raise unless the arrays and texts of a file are what was written to it."""
    name, whole = Path(path).name, "a copy of the file that was not changed, or an earlier checkpoint"
    try:
        found = json.loads(stored)
        version, sums, of_texts = found["version"], dict(found["arrays"]), found["texts"]
    except (KeyError, TypeError, ValueError):
        raise unreadable(path, f"{name} is damaged: its checksums cannot be read", whole) from None
    if version != _VERSION:
        raise unreadable(
            path,
            f"{name} has checksums of version {version!r}; this gradtape knows version {_VERSION}",
            "the gradtape that wrote it, or a newer one",
        )
    if set(sums) != set(arrays):
        odd = ", ".join(repr(key) for key in sorted(set(sums) ^ set(arrays))[:3])
        raise unreadable(path, f"{name} is damaged: its arrays are not those that were saved; see {odd}", whole)
    wrong = [key for key, array in arrays.items() if sums[key] != _digest(key, array)]
    if wrong:
        others = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise unreadable(
            path, f"{name} is damaged: the numbers in {wrong[0]!r}{others} are not those that were saved", whole
        )
    if of_texts != _digest_of_texts(texts):
        raise unreadable(path, f"{name} is damaged: its metadata is not what was saved", whole)


def parsed(content: bytes, path: PathLike) -> tuple[dict[str, Any], dict[str, str]]:
    """The arrays and the texts in the content of a file, all of it checked; `path` is what messages call it."""
    library, name = _library(), Path(path).name
    if len(content) < 8:
        raise unreadable(path, f"{name} has {len(content)} bytes, and is cut off", "a complete file")
    header = int.from_bytes(content[:8], "little")
    if header > len(content) - 8:
        raise unreadable(
            path,
            f"{name} is cut off or no safetensors file: its header would take {header} bytes, and "
            f"{len(content) - 8} are there",
            "a complete file that gt.nn.save or another safetensors library wrote",
        )
    try:
        arrays = library.load(content)
    except KeyError as error:
        raise unreadable(
            path, f"{name} has arrays of the type {error.args[0]}, which NumPy lacks", "float32 or float64 arrays"
        ) from None
    except Exception as error:
        # the library has a class for what it finds itself, and lets those of NumPy and json through
        reason = " ".join(str(error).split()) or type(error).__name__
        raise unreadable(path, f"{name} is damaged: {reason}", "a complete file that was not changed") from None
    texts = dict(json.loads(content[8 : 8 + header]).get("__metadata__", {}))
    stored = texts.pop(CHECKSUMS, None)
    if stored is not None:
        _check_sums(path, arrays, texts, stored)
    # a byte that is neither 0 nor 1 would make a truth value that is not equal to either
    known = {key: x if x.dtype.kind != "b" else x.view(np.uint8) != 0 for key, x in arrays.items()}
    return {key: known[key] for key in sorted(known)}, texts


def _library() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise argument_error(
            OperandError,
            "save and load need the package safetensors, which is not installed.",
            "pip install gradtape[train]",
        ) from None
    return safetensors.numpy

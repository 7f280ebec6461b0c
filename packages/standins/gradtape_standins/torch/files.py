"""`torch.save` and `torch.load`: nested structures of tensors, numbers and texts in files of PyTorch's own format.

What PyTorch itself has written is read as far as it is tensors, numbers, texts and containers of them: nothing in a
file is ever called. safetensors files are read as well.
"""

from __future__ import annotations

import json
import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.nn.storage import CheckpointError, parsed, write_whole
from gradtape_standins.torch import archives, dtypes
from gradtape_standins.torch.nn.parameter import Parameter
from gradtape_standins.torch.size_and_device import Size, device
from gradtape_standins.torch.tensor import wrap

__all__ = ["load", "save"]

_FORMAT = "gradtape torch"


def save(obj: Any, f: Any, *_: Any, **__: Any) -> None:
    """Write tensors, numbers, texts and dicts, lists and tuples of them to a file: a `state_dict`, for example.

    >>> import io
    >>> from gradtape_standins import torch
    >>> file = io.BytesIO()
    >>> torch.save({"epoch": 3, "weight": torch.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'epoch': 3, 'weight': tensor([1., 1.])}
    """
    content = archives.write(obj)
    if hasattr(f, "write"):
        f.write(content)
    else:
        try:
            write_whole(f, content)
        except CheckpointError as error:
            raise RuntimeError(str(error)) from None


def _made(told: Any, arrays: dict[str, Any]) -> Any:
    """What the structure in a file of an earlier version describes."""
    if not isinstance(told, dict):
        return told
    ((kind, held), *_) = told.items()
    if kind == "array":
        return arrays[held]
    if kind in ("tensor", "parameter"):
        tensor = wrap(np.array(arrays[held]))
        if kind == "parameter":
            return Parameter(tensor, bool(told["requires_grad"]))
        return tensor.requires_grad_() if told["requires_grad"] else tensor
    if kind in ("dict", "ordered"):
        pairs = [(_made(key, arrays), _made(value, arrays)) for key, value in held]
        return dict(pairs) if kind == "dict" else OrderedDict(pairs)
    if kind == "dtype":
        return dtypes.NAMES[held]
    containers: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "size": Size}
    return containers[kind](_made(part, arrays) for part in held)


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: Any = None, **_: Any) -> Any:
    """What `save` has written, or PyTorch, if there are tensors and plain containers in it only.

    A file that would call something while it is read is refused, whatever `weights_only` says.
    """
    if isinstance(map_location, (str, device)):
        device(map_location)
    content = f.read() if hasattr(f, "read") else Path(f).read_bytes()
    where = getattr(f, "name", "the file") if hasattr(f, "read") else os.fspath(f)
    # a safetensors file begins with the length of its header, which may look like any other beginning
    is_safetensors = content[8:9] == b"{" and int.from_bytes(content[:8], "little") <= len(content) - 8
    if content[:2] == b"PK" and not is_safetensors:
        return archives.read(content, str(where))
    if content[:1] == b"\x80" and not is_safetensors:
        raise pickle.UnpicklingError(
            f"torch.load: {where} is a bare pickle, and reading one runs whatever code is in it.\n"
            "  fix: where it came from, torch.save(model.state_dict(), path) with a PyTorch of this decade"
        )
    if content[8:9] != b"{":
        raise pickle.UnpicklingError(
            f"torch.load: {where} ({len(content)} bytes) is cut off or no file of PyTorch's: neither a zip archive nor "
            "a safetensors file.\n  fix: a complete file that torch.save wrote"
        )
    try:
        arrays, texts = parsed(content, str(where))
    except CheckpointError as error:
        raise pickle.UnpicklingError(str(error)) from None
    if texts.get("format") != _FORMAT:  # a safetensors file of somebody else: tensors by name
        return {name: wrap(array) for name, array in arrays.items()}
    try:
        return _made(json.loads(texts["structure"]), arrays)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        raise pickle.UnpicklingError(f"torch.load: {where} is damaged: {type(error).__name__}") from None

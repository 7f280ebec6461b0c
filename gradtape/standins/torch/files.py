"""`torch.save` and `torch.load`: nested structures of tensors, numbers and texts in safetensors files.

What PyTorch itself has written is read as well, as far as it is tensors, numbers, texts and containers of them: nothing
in a file is ever called.
"""

from __future__ import annotations

import json
import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.nn.storage import CheckpointError, parsed, write_whole, written
from gradtape.standins.torch import archives, dtypes
from gradtape.standins.torch.description import Size, device
from gradtape.standins.torch.nn.parameter import Parameter
from gradtape.standins.torch.tensor import Tensor, wrap

__all__ = ["load", "save"]

_FORMAT = "gradtape torch"


def save(obj: Any, f: Any, *_: Any, **__: Any) -> None:
    """Write tensors, numbers, texts and dicts, lists and tuples of them to a file: a `state_dict`, for example.

    >>> import io
    >>> from gradtape.standins import torch
    >>> file = io.BytesIO()
    >>> torch.save({"epoch": 3, "weight": torch.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'epoch': 3, 'weight': tensor([1., 1.])}
    """
    arrays: dict[str, Any] = {}
    structure = json.dumps(_described(obj, arrays))
    content = written(arrays, {"format": _FORMAT, "structure": structure})
    if hasattr(f, "write"):
        f.write(content)
    else:
        try:
            write_whole(f, content)
        except CheckpointError as error:
            raise RuntimeError(str(error)) from None


def _described(item: Any, arrays: dict[str, Any]) -> Any:
    """What is needed to make `item` again, but for the numbers, which are added to `arrays`."""
    if item is None or isinstance(item, (bool, int, float, str)):
        return item
    if isinstance(item, (Tensor, np.ndarray, np.generic)):
        number = str(len(arrays))
        if not isinstance(item, Tensor):
            arrays[number] = np.array(item, order="C")
            return {"array": number}
        arrays[number] = np.array(item._array, order="C")
        kind = "parameter" if isinstance(item, Parameter) else "tensor"
        return {kind: number, "requires_grad": item.requires_grad and item.is_leaf}
    if isinstance(item, dict):
        kind = "ordered" if isinstance(item, OrderedDict) else "dict"
        return {kind: [[_described(key, arrays), _described(held, arrays)] for key, held in item.items()]}
    if isinstance(item, (list, tuple, set)):
        kind = "size" if isinstance(item, Size) else type(item).__name__
        if kind in ("list", "tuple", "set", "size"):
            return {kind: [_described(part, arrays) for part in item]}
    if isinstance(item, dtypes.dtype):
        return {"dtype": item.name}
    raise RuntimeError(
        f"torch.save: a {type(item).__name__} cannot be stored; files hold tensors, numbers, texts, None and dicts, "
        "lists and tuples of them, and no code.\n"
        "  fix: torch.save(model.state_dict(), path), and model.load_state_dict(torch.load(path)) into a new model"
    )


def _made(told: Any, arrays: dict[str, Any]) -> Any:
    """What `_described` has described."""
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
    try:
        arrays, texts = parsed(content, str(where))
    except CheckpointError as error:
        raise pickle.UnpicklingError(str(error)) from None
    if texts.get("format") != _FORMAT:  # a safetensors file of somebody else: tensors by name
        return {name: wrap(array) for name, array in arrays.items()}
    try:
        return _made(json.loads(texts["structure"]), arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise pickle.UnpicklingError(f"torch.load: {where} is damaged: {error!r}") from None

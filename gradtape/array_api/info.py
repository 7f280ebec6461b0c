"""What this namespace can do, for those who ask."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from gradtape.array_api import dtypes as _dtypes
from gradtape.array_api.arguments import DEVICE, ArgumentError, check_device
from gradtape.extend import argument_error

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
"""The versions of the standard whose functions are all here."""


def namespace(api_version: str | None = None) -> ModuleType:
    """What `Tensor.__array_namespace__` returns: this namespace, if it is of the version that is asked for."""
    if api_version is not None and api_version not in VERSIONS:
        raise argument_error(
            ArgumentError,
            f"__array_namespace__: api_version={api_version!r}.",
            f"one of {', '.join(map(repr, VERSIONS))}, or None",
        )
    return importlib.import_module("gradtape.array_api")


class Info:
    """Devices, data types and capabilities, as the standard asks for them.

    >>> import gradtape.array_api as xp
    >>> xp.__array_namespace_info__().default_device()
    'cpu'
    """

    def capabilities(self) -> dict[str, Any]:
        """What is optional in the standard and possible here."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Where new arrays are."""
        return DEVICE

    def devices(self) -> list[str]:
        """All devices there are."""
        return [DEVICE]

    def default_dtypes(self, *, device: Any = None) -> dict[str, _dtypes.DType]:
        """The data types of new arrays, and of positions."""
        check_device(device, "default_dtypes")
        return {
            "real floating": _dtypes.float64,
            "complex floating": _dtypes.complex128,
            "integral": _dtypes.int64,
            "indexing": _dtypes.int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, _dtypes.DType]:
        """The data types of a kind, or of all kinds, by name."""
        check_device(device, "dtypes")
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        found: dict[str, _dtypes.DType] = {}
        for each in kinds:
            if each not in _dtypes.KINDS:
                raise _dtypes.unknown_kind(each, "dtypes")
            found |= {dtype.name: dtype for dtype in _dtypes.KINDS[each]}
        return found


def __array_namespace_info__() -> Info:
    """Devices, data types and capabilities of this namespace."""
    return Info()

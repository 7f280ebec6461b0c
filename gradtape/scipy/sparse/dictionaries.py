"""What a sparse matrix of tensors in the format `dok` has of a dictionary: its keys are pairs of a row and a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Place = tuple[int, int]


class DictionaryOfKeys:
    """The methods of a dictionary, for a matrix with `format`, `coords` and elements that can be written to."""

    format: str
    coords: Any

    def _require(self, *formats: str) -> None:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NotImplementedError

    def keys(self) -> list[Place]:
        """The places of the values that are stored."""
        self._require("dok")
        rows, columns = self.coords
        return list(zip(rows.tolist(), columns.tolist(), strict=True))

    def values(self) -> list[Any]:
        """The values that are stored."""
        return [self[key] for key in self.keys()]

    def items(self) -> list[tuple[Place, Any]]:
        """The places and the values."""
        return list(zip(self.keys(), self.values(), strict=True))

    def __contains__(self, key: Any) -> bool:
        return tuple(key) in self.keys()

    def get(self, key: Place, default: Any = 0.0) -> Any:
        """The value at a place that has one, else the default."""
        return self[key] if key in self.keys() else default

    def setdefault(self, key: Place, default: Any = None) -> Any:
        """The value at a place, which is the default if it has none."""
        if key not in self.keys():
            self[key] = default
        return self[key]

    def update(self, val: Mapping[Place, Any] | Iterable[tuple[Place, Any]]) -> None:
        """Write the values of a dictionary, or of pairs of places and values."""
        self._require("dok")
        for key, value in val.items() if isinstance(val, Mapping) else val:
            self[key] = value

    def pop(self, key: Place, *default: Any) -> Any:
        """The value at a place, which has none afterwards."""
        if key not in self.keys():
            if default:
                return default[0]
            raise KeyError(key)
        value = self[key]
        self[key] = 0
        return value

    def __delitem__(self, key: Place) -> None:
        self.pop(key)

    def clear(self) -> None:
        """Have no values."""
        for key in self.keys():
            self[key] = 0

    def popitem(self) -> tuple[Place, Any]:
        """The last place and its value, which has none afterwards."""
        key = self.keys()[-1]
        return key, self.pop(key)

"""Lists, dictionaries and dataclasses of which a function is given copies: what it does to these reaches the caller."""

from __future__ import annotations

from typing import Any

from gradtape.core.pytree import children


class PassedContainers:
    """The containers of a structure, each with the copy that a function is given in its place.

    >>> mine, copy = [1, {"a": 2}], [1, {"a": 2}]
    >>> passed = PassedContainers(mine, copy)
    >>> copy[1]["b"] = copy[0]
    >>> passed.write_back(), mine
    (True, [1, {'a': 2, 'b': 1}])
    """

    def __init__(self, mine: Any, copies: Any) -> None:
        self._pairs: list[tuple[Any, Any, list[Any]]] = []
        self._mine: dict[int, Any] = {}
        pending = [(mine, copies)]
        while pending:
            container, copy = pending.pop()
            parts = children(copy)
            if parts is None or container is copy:
                continue
            self._mine[id(copy)] = container
            pending += zip(children(container) or (), parts, strict=True)
            if not isinstance(copy, tuple):
                self._pairs.append((container, copy, _content(copy)))

    def have_changed(self) -> bool:
        """Whether a copy has other content than when the function was given it."""
        return any(not _is_same(_content(copy), before) for _, copy, before in self._pairs)

    def write_back(self, values: dict[int, Any] | None = None) -> bool:
        """Give the containers what their copies hold now; whether anything had changed.

        `values` has, by the `id` of a value in a copy, what stands for it in the container.
        """
        own = {**self._mine, **(values or {})}
        changed = [pair for pair in self._pairs if not _is_same(_content(pair[1]), pair[2])]
        for container, copy, _ in changed:
            _fill(container, copy, own)
        return bool(changed)

    def original(self, value: Any) -> Any:
        """The container that `value` is the copy of; `value` itself, if it is none of the copies."""
        return self._mine.get(id(value), value)


def _content(container: Any) -> list[Any]:
    keys = list(container) if isinstance(container, dict) else []
    return [*keys, *(children(container) or ())]


def _is_same(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before) and all(one is other for one, other in zip(now, before, strict=True))


def _fill(container: Any, copy: Any, own: dict[int, Any]) -> None:
    if isinstance(copy, dict):
        content = {key: own.get(id(value), value) for key, value in copy.items()}
        container.clear()
        container.update(content)
    elif isinstance(copy, list):
        container[:] = [own.get(id(value), value) for value in copy]
    else:
        for name in type(copy).__dataclass_fields__:
            value = getattr(copy, name)
            value = own.get(id(value), value)
            if getattr(container, name) is not value:
                setattr(container, name, value)

"""The paths of parameters: `blocks.0.ln1.weight` in the outermost module or the nested structure that holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from gradtape.core.explain_hooks import parameter_containers
from gradtape.core.graph import Node
from gradtape.core.pytree import children
from gradtape.core.tensor import Tensor

DEEPEST = 40  # containers within containers that are followed


def paths_within(containers: Iterable[Any], wanted: Iterable[Tensor]) -> dict[int, str]:
    """The path of each wanted tensor in the outermost container that holds it, by the identity of the tensor.

    Where several such containers hold wanted tensors, paths begin with the name of the container's class.
    """
    listed = {id(container): container for container in containers}
    held = {id(tensor) for tensor in wanted}
    inner = {id(part) for container in listed.values() for _, part in _parts_of(container) if id(part) in listed}
    found: dict[int, tuple[Any, str]] = {}
    for container in sorted(listed.values(), key=lambda container: id(container) in inner):
        if len(found) == len(held):  # always after the outermost ones, unless they hold each other in a circle
            break
        for path, tensor in _tensors_within(container, "", (id(container),)):
            if id(tensor) in held:
                found.setdefault(id(tensor), (container, path))
    several = len({id(container) for container, _ in found.values()}) > 1
    return {
        tensor: f"{type(container).__name__}.{path}" if several else path for tensor, (container, path) in found.items()
    }


def _listing_function(value: Any) -> Any:
    """The function that lists the parts of a container of parameters; None for what is no such container."""
    return next((parameter_containers[base] for base in type(value).__mro__ if base in parameter_containers), None)


def _parts_of(container: Any) -> Iterator[tuple[str, Any]]:
    """The tensors and containers directly in a container, also those in its lists, tuples and dictionaries."""
    parts = _listing_function(container)
    for name, value in () if parts is None else parts(container):
        yield from _inside(name, value, 0)


def _inside(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Tensor) or _listing_function(value) is not None:
        yield name, value
    elif isinstance(value, list | tuple | dict) and depth < DEEPEST:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _inside(f"{name}.{key}", part, depth + 1)


def _tensors_within(container: Any, prefix: str, above: tuple[int, ...]) -> Iterator[tuple[str, Tensor]]:
    for name, part in _parts_of(container):
        path = f"{prefix}{name}"
        if isinstance(part, Tensor):
            yield path, part
        elif id(part) not in above and len(above) < DEEPEST:  # a module may hold the one that holds it
            yield from _tensors_within(part, f"{path}.", (*above, id(part)))


def paths_of_leaves(tree: Any) -> list[str]:
    """The dotted path of each leaf of a nested structure with names in it; empty for one without names, as a list.

    >>> paths_of_leaves({"blocks": [{"w": 1.0, "b": 2.0}], "head": 3.0})
    ['blocks.0.w', 'blocks.0.b', 'head']
    >>> paths_of_leaves([1.0, 2.0])
    ['', '']
    """
    found = list(_leaf_paths(tree))
    return [path if any(not part.isdecimal() for part in path.split(".")) else "" for path in found]


def names_of_sources(nodes: Iterable[Node], tree: Any) -> dict[Node, str]:
    """The paths of the nodes of the leaves of a nested structure, as far as it has names."""
    return {node: path for node, path in zip(nodes, paths_of_leaves(tree)) if path}


def _leaf_paths(tree: Any) -> Iterator[str]:
    parts = children(tree)
    if parts is None:
        yield ""
        return
    if isinstance(tree, dict):
        names = [str(key) for key in tree]
    elif isinstance(tree, list | tuple):
        names = list(getattr(tree, "_fields", map(str, range(len(parts)))))
    else:
        names = list(type(tree).__dataclass_fields__)
    for name, part in zip(names, parts, strict=True):
        for rest in _leaf_paths(part):
            yield f"{name}.{rest}" if rest else name


def pattern_of(path: str) -> str:
    """A path with a star in the place of each number: equal for the same parameter of repeated layers.

    >>> pattern_of("blocks.0.ln1.weight"), pattern_of("fc2.weight")
    ('blocks.*.ln1.weight', 'fc2.weight')
    """
    return re.sub(r"(?<![^.])\d+(?![^.])", "*", path)

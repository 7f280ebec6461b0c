"""`functional_call`: a module called with other numbers than its own, as a pure function of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import Variable, argument_error, plain
from gradtape.nn.module import Module
from gradtape.nn.names import check_names, flat, joined, nested

Shape = tuple[int, ...]


def functional_call(
    module: Module,
    params: Mapping[str, Any],
    *args: Any,
    buffers: Mapping[str, Any] | None = None,
    rng: np.random.Generator | None = None,
    training: bool | None = None,
    **kwargs: Any,
) -> Any:
    """What `module` computes with `params` (nested, or by dotted name) in place of its own parameters.

    A pure function: the module is not changed. With `buffers` it works on those, and returns the output and what they
    became; without, on copies of the module's. `rng` is what dropout draws from and `training` the
    mode, if they are given.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.BatchNorm1d(1)
    >>> params = layer.init(np.random.default_rng(0))
    >>> x = np.array([[1.0], [3.0]], np.float32)
    >>> output, buffers = gt.nn.functional_call(layer, params, x, buffers=layer.buffer_values)
    >>> buffers["running_mean"], layer.running_mean
    (array([0.2], dtype=float32), Variable([0.], dtype=float32))
    """
    given = flat(params)
    held = {} if buffers is None else flat(buffers)
    stand_in = _Copy(module, given, held, rng, training)
    output = stand_in.module(*args, **kwargs)
    if buffers is None:
        return output
    return output, nested({name: place[key] for name, (place, key) in stand_in.buffers.items()})


class _Copy:
    """A module like another, with other numbers in it."""

    def __init__(
        self,
        module: Module,
        params: dict[str, Any],
        buffers: dict[str, Any],
        rng: np.random.Generator | None,
        training: bool | None,
    ) -> None:
        self._original = module
        self._given = {**buffers, **params}
        self._rng, self._training = rng, training
        self._made: dict[int, Any] = {}
        self._shapes: dict[str, Shape] = {}
        self.buffers: dict[str, tuple[Any, Any]] = {}  # where each is: a container, and the key
        self.module = self._module(module, "")
        if len(self._shapes) != len(self._given) or any(name not in self._shapes for name in self._given):
            self._check_names()

    def _module(self, module: Module, prefix: str) -> Module:
        copied: Module = object.__new__(type(module))
        self._made[id(module)] = copied
        attributes = vars(copied)
        for name, value in vars(module).items():
            attributes[name] = self._value(value, prefix, name, attributes)
        for name, declared in module._declared.items():
            if name not in attributes:
                attributes[name] = self._number(joined(prefix, name), declared.shape)
        if self._training is not None:
            copied.training = self._training
        return copied

    def _value(self, value: Any, prefix: str, name: Any, holder: Any) -> Any:
        """What stands for `value`, which is called `name` in `holder`."""
        if isinstance(value, Variable | Module) and id(value) in self._made:
            return self._made[id(value)]
        path = joined(prefix, str(name))
        if isinstance(value, Variable):
            if value.trainable:
                number = self._number(path, value.shape)
            else:
                number = self._given[path] if path in self._given else plain(value)
                self._check(path, number, value.shape)
                self.buffers[path] = (holder, name)
            self._made[id(value)] = number
            return number
        if isinstance(value, Module):
            return self._module(value, path)
        if isinstance(value, np.random.Generator) and self._rng is not None:
            return self._rng
        if isinstance(value, list | tuple) and not hasattr(value, "_fields") and _holds_modules(value):
            listed: list[Any] = list(value)
            for index, part in enumerate(value):
                listed[index] = self._value(part, path, index, listed)
            return listed if isinstance(value, list) else tuple(listed)
        if isinstance(value, dict) and _holds_modules(value.values()):
            items: dict[Any, Any] = {}
            for key, part in value.items():
                items[key] = self._value(part, path, key, items)
            return items
        if name == "rng" and value is None:
            return self._rng
        return value

    def _number(self, path: str, shape: Shape) -> Any:
        if path not in self._given:
            self._shapes[path] = shape
            check_names(
                "functional_call", "the module", "the given parameters", {path: shape, **self._shapes}, self._given
            )
        self._check(path, self._given[path], shape)
        return self._given[path]

    def _check_names(self) -> None:
        wanted = {
            name: () for name, _, _, value in self._original._variables() if value.trainable or name in self._given
        }
        for prefix, module in self._original.named_modules():
            wanted.update({joined(prefix, name): () for name in module._declared})
        check_names("functional_call", "the module", "the given parameters", wanted, self._given)

    def _check(self, path: str, number: Any, shape: Shape) -> None:
        if path in self._given:
            self._shapes[path] = shape
        if np.shape(number) != shape:
            raise argument_error(
                ShapeError,
                f"functional_call: {path!r} has shape {np.shape(number)}; this module has one of shape {shape}.",
                "the parameters of this very module: module.init(rng) or module.params",
            )


def _holds_modules(values: Iterable[Any]) -> bool:
    return any(
        isinstance(x, Module | Variable)
        or (isinstance(x, list | tuple) and _holds_modules(x))
        or (isinstance(x, dict) and _holds_modules(x.values()))
        for x in values
    )

"""`tf.Module`: an object whose variables are found by looking through its attributes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gradtape.extend import register_parameter_container
from gradtape_standins.tensorflow.execution_context import name_scope
from gradtape_standins.tensorflow.variable import Variable


class Module:
    """A named object that knows its variables and submodules: attributes, also in lists, tuples and dictionaries.

    >>> from gradtape_standins import tensorflow as tf
    >>> class Line(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = tf.Variable(2.0, name="slope")
    >>> [v.name for v in Line().trainable_variables]
    ['slope:0']
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = snake_case(type(self).__name__) if name is None else name

    @property
    def name(self) -> str:
        """The name that was given, or that of the class."""
        named = self.__dict__.get("_name")
        return snake_case(type(self).__name__) if named is None else named

    @property
    def name_scope(self) -> Any:
        """A block in which variables get this module's name in front of theirs."""
        return name_scope(self.name)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that runs within the module's name scope."""

        def within(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return within

    @property
    def variables(self) -> tuple[Any, ...]:
        """All variables, of this module and of those inside it."""
        return tuple(self._found(lambda x: isinstance(x, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables that tapes watch by themselves."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """The other variables."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules inside this one."""
        return tuple(self._found(lambda x: isinstance(x, Module)))

    def _found(self, wanted: Callable[[Any], bool]) -> list[Any]:
        """What is wanted among the attributes: this module's own first (in order of their names), then the others'."""
        found: list[Any] = []
        seen = {id(self)}
        waiting: list[Any] = [self]
        while waiting:
            module = waiting.pop(0)
            for name in sorted(vars(module)):
                for part in _parts(vars(module)[name]):
                    if id(part) in seen:
                        continue
                    seen.add(id(part))
                    if wanted(part):
                        found.append(part)
                    if isinstance(part, Module):
                        waiting.append(part)
        return found


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [part for key in sorted(value, key=str) for part in _parts(value[key])]
    if isinstance(value, list | tuple | set):
        return [part for item in value for part in _parts(item)]
    return [value]


def snake_case(name: str) -> str:
    """`SomeName` as `some_name`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _named_parts(module: Module) -> list[tuple[str, Any]]:
    """What a report names in a module: gradtape's tensors of its variables, and its modules."""
    held = {name: value for name, value in vars(module).items() if name != "_arguments"}  # those of the constructor
    return [(name.lstrip("_"), _with_tensors(held[name])) for name in sorted(held, key=lambda name: name[0] == "_")]


def _with_tensors(value: Any) -> Any:
    """`value` with gradtape's tensor in the place of each variable, also in lists, tuples and dictionaries."""
    if isinstance(value, Variable):
        return value._value
    if type(value) in (list, tuple):
        return [_with_tensors(part) for part in value]
    return {key: _with_tensors(part) for key, part in value.items()} if type(value) is dict else value


register_parameter_container(Module, _named_parts)

"""`isinstance` and `type` that see through tensors. `tuple`, `list` and `dict` are Python's: these are followed."""

from __future__ import annotations

import builtins
from builtins import dict, list, tuple  # noqa: UP029  (names that are imported from here)
from typing import Any

from gradtape_standins import missing_names
from gradtape_standins.autograd.box_conversion import getval, holds_box
from gradtape_standins.autograd.spaces import ContainerVSpace

__all__ = ["DictBox", "SequenceBox", "dict", "isinstance", "list", "tuple", "type"]


def isinstance(value: Any, kinds: Any) -> bool:
    """Whether `value`, or what is behind it if it is a tensor, is an instance of `kinds`.

    >>> import numpy as np, gradtape as gt
    >>> isinstance(gt.tensor([1.0]), np.ndarray), isinstance(gt.tensor(1.0), float)
    (True, True)
    """
    return builtins.isinstance(getval(value), kinds) or builtins.isinstance(value, kinds)


def type(value: Any) -> builtins.type[Any]:
    """The type of `value`, or of what is behind it if it is a tensor.

    >>> import gradtape as gt
    >>> type(gt.tensor([1.0])).__name__
    'ndarray'
    """
    return builtins.type(getval(value))


class _Followed(builtins.type):
    """Containers need no box here: one that holds a tracked tensor counts as one."""

    kinds: tuple[builtins.type[Any], ...]

    def __instancecheck__(cls, value: Any) -> bool:
        return builtins.isinstance(value, cls.kinds) and holds_box(value)

    def register(cls, kind: builtins.type[Any]) -> None:
        """Count a kind of container as one of these: a subclass of what is followed anyway, or a dataclass."""
        followed = issubclass(kind, (builtins.list, builtins.tuple, builtins.dict))
        if not followed and not hasattr(kind, "__dataclass_fields__"):
            raise TypeError(
                f"{cls.__name__}.register: {kind.__name__} is no container that gradients go into.\n"
                f"  accepted: subclasses of list, tuple (named ones too) and dict, and dataclasses"
            )
        cls.kinds = (*cls.kinds, kind)


class SequenceBox(metaclass=_Followed):
    """Lists and tuples that hold a tracked tensor are instances of it."""

    kinds = (builtins.list, builtins.tuple)


class DictBox(metaclass=_Followed):
    """Dictionaries that hold a tracked tensor are instances of it."""

    kinds = (builtins.dict,)


def container_take(container: Any, index: Any) -> Any:
    """The entry of a container."""
    return container[index]


def make_sequence(kind: Any, *entries: Any) -> Any:
    """A list or tuple of `entries`."""
    return kind(entries)


# what containers of every kind are here
SequenceVSpace = ListVSpace = TupleVSpace = NamedTupleVSpace = DictVSpace = ContainerVSpace

__getattr__ = missing_names.missing(__name__)

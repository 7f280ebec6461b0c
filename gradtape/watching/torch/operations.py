"""What the functions of PyTorch are in gradtape's table: the name of the operation, its kind, operands and parameters.

A `TorchFunctionMode` is given each function as an object: `torch.sub`, `Tensor.sub`, `Tensor.__rsub__` and the slot
wrapper of an attribute are different ones. `rule_for` classifies such an object once. A function that is not listed is
recorded under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from gradtape.watching.torch.operation_tables import (
    ATTRIBUTE_OPERATIONS,
    BACKWARDS,
    DEPARTURES,
    FACTORIES,
    IGNORED_FUNCTIONS,
    KINDS,
    NO_WRITES,
    OPERATIONS,
    OPERATOR_WRITES,
    RANDOM,
    SHAPED_FACTORIES,
)

# -- what happens to a function


IGNORED, OPERATION, WRITE, DEPARTURE, DETACH, COPY, FACTORY, SETTER, BACKWARD, SWITCH, GRAD, MEETING = range(12)


class Rule(NamedTuple):
    """How a function of the library is recorded."""

    what: int
    name: str
    kind: str = ""
    order: str = ""  # how its operands are arranged: "reversed", "condition second", "numbers"
    is_random: bool = False
    is_method: bool = False
    own_name: str = ""


def rule_for(func: Any) -> Rule:
    """How a function that arrives in the mode is recorded.

    >>> import torch
    >>> from gradtape.watching.torch.operations import rule_for
    >>> rule_for(torch.sub).name, rule_for(torch.Tensor.__rsub__).order, rule_for(torch.Tensor.add_).name
    ('subtract', 'reversed', 'add')
    """
    own = str(getattr(func, "__name__", ""))
    owner = getattr(func, "__self__", None)
    if own in ("__get__", "__set__", "__delete__"):
        return _attribute_rule(own, str(getattr(owner, "__name__", "")))
    is_method = hasattr(func, "__objclass__") or str(getattr(func, "__qualname__", "")).startswith(
        ("Tensor.", "TensorBase.", "_TensorBase.")
    )
    if own in BACKWARDS and is_method:
        return Rule(BACKWARD, own, own_name=own)
    if own == "grad" and getattr(func, "__module__", "") == "torch.autograd":
        return Rule(BACKWARD, own, own_name=own)
    if own in ("_set_grad_enabled", "_inference_mode"):
        return Rule(SWITCH, own, own_name=own)
    if not own or own in IGNORED_FUNCTIONS or own in ("__class__", "__dict__"):
        return Rule(IGNORED, own, own_name=own)
    if own in DEPARTURES:
        return Rule(DEPARTURE, DEPARTURES[own], own_name=own, is_method=True)
    if own == "__bool__":
        return Rule(IGNORED, own, own_name=own)
    if own in ("detach", "detach_", "alias"):
        return Rule(DETACH, "stop_gradient", own_name=own, is_method=is_method)
    if own == "broadcast_tensors":
        return Rule(MEETING, own, own_name=own)
    if own == "requires_grad_":
        return Rule(SETTER, "requires_grad", own_name=own, is_method=True)
    if own in FACTORIES:
        return Rule(COPY, own, own_name=own, is_method=is_method)
    if own == "normal" and not is_method:  # of tensors, it is a draw that depends on them
        return Rule(OPERATION, own, is_random=True, own_name=own)
    if own in SHAPED_FACTORIES:
        return Rule(FACTORY, own, own_name=own, is_method=is_method)
    is_write = own in OPERATOR_WRITES or (
        own.endswith("_") and not own.startswith("__") and not own.endswith("__") and own not in NO_WRITES
    )
    bare = own.strip("_")
    is_reversed = own.startswith("__r") and own.endswith("__") and own not in ("__rshift__", "__round__", "__repr__")
    if own.startswith("__i") and own in OPERATOR_WRITES:
        bare = bare[1:]
    if is_reversed:
        bare = bare[1:] if bare != "rsub" else "sub"
    is_reversed = is_reversed or own == "rsub"
    name = OPERATIONS.get(bare, bare)
    kind = KINDS.get(name, "")
    order = "reversed" if is_reversed else ""
    if name == "where":
        order = "condition second" if bare == "masked_fill" or is_method else ""
    if kind == "elementwise" and not order:
        order = "numbers"
    return Rule(WRITE if is_write else OPERATION, name, kind, order, bare in RANDOM, is_method, own)


def _attribute_rule(accessor: str, name: str) -> Rule:
    if accessor == "__set__":
        known = name in ("data", "grad", "requires_grad")
        return Rule(SETTER if known else IGNORED, name, own_name=accessor)
    if accessor == "__get__" and name == "data":
        return Rule(DETACH, ".data", own_name="data", is_method=True)
    if accessor == "__get__" and name == "grad":
        return Rule(GRAD, "grad", own_name="grad", is_method=True)
    if accessor == "__get__" and name in ATTRIBUTE_OPERATIONS:
        return Rule(OPERATION, OPERATIONS.get(name, name), "linear", own_name=name, is_method=True)
    return Rule(IGNORED, name, own_name=accessor)


# -- operands


class Slot(NamedTuple):
    """Where an operand stands among the arguments of a call: its position or keyword, and the place in a list there."""

    key: int | str
    inner: int | None = None

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The operand."""
        found = args[self.key] if isinstance(self.key, int) else kwargs[self.key]
        return found if self.inner is None else found[self.inner]


def slots_of(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Slot]:
    """The operands of a call, in the order of gradtape's table; numbers count for elementwise operations."""
    found: list[Slot] = []
    numbers = rule.order in ("numbers", "reversed", "condition second") or rule.name == "where"
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for key, value in given:
        if isinstance(value, torch.Tensor):
            found.append(Slot(key))
        elif numbers and type(value) in (int, float) and len(found) < 3 and (key != "alpha"):
            if rule.kind == "elementwise" and rule.name in _WITH_NUMBERS:
                found.append(Slot(key))
        elif isinstance(value, list | tuple):
            found += [Slot(key, index) for index, each in enumerate(value) if isinstance(each, torch.Tensor)]
    if rule.name == "getitem" or rule.name == "setitem":
        found = [slot for slot in found if slot.key != 1]
    if rule.own_name in _LIKE_ANOTHER:
        found = found[:1]
    if rule.order == "reversed":
        return found[::-1]
    if rule.order == "condition second" and len(found) == 3:
        if rule.own_name.startswith("masked_fill"):
            return [found[1], found[2], found[0]]
        return [found[1], found[0], found[2]]
    return found


_LIKE_ANOTHER = frozenset(["view_as", "reshape_as", "expand_as", "type_as"])  # of which only the shape or dtype is read
_WITH_NUMBERS = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "power",
        "maximum",
        "minimum",
        "where",
        "remainder",
        "floor_divide",
        "arctan2",
        "xlogy",
    ]
)


# -- parameters


def params_of(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> dict[str, Any]:
    """The parameters of a call under the names of gradtape's table."""
    name = rule.name
    if name in _REDUCTIONS:
        return _reduction_params(name, rule, args, kwargs)
    if name in ("softmax", "log_softmax", "logsumexp", "cumsum"):
        axis = _argument(args, kwargs, 1, "dim")
        if axis is None and "softmax" in name and isinstance(result, torch.Tensor):
            axis = 0 if result.dim() in (0, 1, 3) else 1  # as PyTorch chooses it, with a warning
        return {"axis": None if axis is None else _axes(axis, args, kwargs)}
    if name == "getitem":
        return {"index": _index(rule, args, kwargs)}
    if name == "setitem":
        return {"index": _as_index(args[1] if len(args) > 1 else ())}
    if name in ("reshape", "broadcast_to"):
        return {"shape": tuple(result.shape) if isinstance(result, torch.Tensor) else ()}
    if name in ("concatenate", "stack"):
        axis = _argument(args, kwargs, 1, "dim")
        return {"axis": axis if isinstance(axis, int) else 0}
    if name == "einsum" and args and isinstance(args[0], str):
        return {"subscripts": args[0].replace(" ", "")}
    if name == "expand_dims":
        return {"axis": _argument(args, kwargs, 1, "dim")}
    return {}


_REDUCTIONS = frozenset(
    [
        "sum",
        "mean",
        "prod",
        "max",
        "min",
        "var",
        "std",
        "median",
        "norm",
        "all",
        "any",
        "nansum",
        "nanmean",
        "argmax",
        "argmin",
    ]
)


def _argument(args: Sequence[Any], kwargs: Mapping[str, Any], position: int, name: str) -> Any:
    if name in kwargs:
        return kwargs[name]
    return args[position] if len(args) > position else None


def _reduction_params(name: str, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    axis = kwargs.get("dim", kwargs.get("axis"))
    given = [value for value in args[1:] if not isinstance(value, torch.Tensor)]
    if axis is None and given and type(given[0]) in (int, tuple, list, torch.Size):
        axis = given[0]
    keep = kwargs.get("keepdim", kwargs.get("keepdims", False))
    if any(value is True for value in given[1:]):
        keep = True
    if name == "norm":  # norm(x, p, dim, keepdim)
        axis, keep = _argument(args, kwargs, 2, "dim"), bool(_argument(args, kwargs, 3, "keepdim"))
    return {"axis": None if axis is None else _axes(axis, args, kwargs), "keepdims": bool(keep)}


def _axes(axis: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    count = next((x.dim() for x in [*args, *kwargs.values()] if isinstance(x, torch.Tensor)), 0)
    listed = [axis] if isinstance(axis, int) else [part for part in axis if isinstance(part, int)]
    return tuple(part % count if count else part for part in listed)


def _index(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    own = rule.own_name
    if own == "__getitem__":
        return _as_index(args[1])
    axis, count = _argument(args, kwargs, 1, "dim"), args[0].dim() if args else 0
    if own == "select" and isinstance(axis, int) and count:
        return (*[slice(None)] * (axis % count), _argument(args, kwargs, 2, "index"))
    if own == "index_select" and isinstance(axis, int) and count:
        return (*[slice(None)] * (axis % count), _as_index(_argument(args, kwargs, 2, "index"))[0])
    return ()


def _as_index(index: Any) -> tuple[Any, ...]:
    """An index with NumPy arrays for tensors."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(
        part.detach().cpu().numpy() if isinstance(part, torch.Tensor) and part.numel() < 1 << 20 else part
        for part in parts
    )


__all__ = ["Rule", "Slot", "params_of", "rule_for", "slots_of"]

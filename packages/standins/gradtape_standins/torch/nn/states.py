"""What a module stores of itself and takes back: `state_dict`, `load_state_dict`, and the hooks around them."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from gradtape_standins.torch.hooks import RemovableHandle, registered
from gradtape_standins.torch.nn.parameter import Buffer, Parameter
from gradtape_standins.torch.tensor import Tensor

EXTRA = "_extra_state"
"""The name under which what `get_extra_state` returns is stored."""

_CHANGES = "changes"
"""Where in the metadata of a module the changes are collected that are made when everything was checked."""


class KeysMismatch(NamedTuple):
    """The names that `load_state_dict` did not find, and those it had no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class State(OrderedDict[str, Any]):
    """Tensors by their dotted names, and the version of each module under `_metadata`."""

    _metadata: OrderedDict[str, dict[str, Any]]


State.__name__ = State.__qualname__ = "OrderedDict"


class Stateful:
    """What modules have to do with their state: the part of `Module` that stores and loads."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _volatile: set[str]
    _state_hooks: dict[str, dict[int, Any]]

    def get_extra_state(self) -> Any:
        """What is to be stored besides parameters and buffers. Write this one together with `set_extra_state`."""
        raise RuntimeError("Module.get_extra_state has to be written by the module that has an extra state")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` has returned."""
        raise RuntimeError(
            f"{type(self).__name__}: there is an extra state in the state_dict, and no set_extra_state to take it.\n"
            "  fix: write set_extra_state, the counterpart of get_extra_state"
        )

    # -- storing

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and buffers by their dotted names, and what `get_extra_state` returns."""
        # they could be given by position once, in this order
        given: list[Any] = [*args, *[destination, prefix, keep_vars][len(args) :]]
        destination, prefix, keep_vars = given
        if destination is None:
            destination = State()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in list(self._state_hooks["before saving"].values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in list(self._state_hooks["after saving"].values()):
            replaced = hook(self, destination, prefix, metadata)
            destination = destination if replaced is None else replaced
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the state of this module, without those within it, into a dictionary."""
        for name, tensor in [*self._parameters.items(), *self._buffers.items()]:
            if tensor is not None and name not in self._volatile:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    # -- loading

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> KeysMismatch:
        """Take over numbers by name: all names and shapes are checked before anything changes."""
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        known = getattr(state_dict, "_metadata", None)
        given: Any = OrderedDict(state_dict)
        found = KeysMismatch([], [])
        wrong: list[str] = []
        changes: list[Callable[[], None]] = []

        def load(module: Stateful, local: Any, prefix: str) -> None:
            metadata = {} if known is None else dict(known.get(prefix[:-1], {}))
            metadata |= {_CHANGES: changes, "assign_to_params_buffers": assign}
            module._load_from_state_dict(local, prefix, metadata, True, *found, wrong)
            for name, child in module._modules.items():
                if child is not None:
                    inside = f"{prefix}{name}."
                    load(child, {key: held for key, held in local.items() if key.startswith(inside)}, inside)
            for hook in list(module._state_hooks["after loading"].values()):
                changed = hook(module, found)
                if changed is not None:
                    raise AssertionError("hooks of register_load_state_dict_post_hook change the keys in place")

        load(self, given, "")
        if strict and found.unexpected_keys:
            listed = ", ".join(f'"{name}"' for name in found.unexpected_keys)
            wrong.insert(0, f"Unexpected key(s) in state_dict: {listed}.")
        if strict and found.missing_keys:
            wrong.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{k}"' for k in found.missing_keys) + ".")
        if wrong:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(wrong))
        for change in changes:
            change()
        return found

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take over the state of this module, without those within it; what does not fit is put into the lists.

        Called by `load_state_dict`, which makes the changes when all modules were asked; by itself, at once.
        """
        for hook in list(self._state_hooks["before loading"].values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        changes: Any = local_metadata.get(_CHANGES)
        assign = bool(local_metadata.get("assign_to_params_buffers", False))
        own = {**self._parameters, **{k: v for k, v in self._buffers.items() if k not in self._volatile}}
        for name, tensor in own.items():
            key = prefix + name
            if tensor is None:
                continue
            if key not in state_dict:
                missing_keys.append(key)
                continue
            given = state_dict[key]
            if not isinstance(given, Tensor):
                error_msgs.append(
                    f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(given)}"
                )
            elif tuple(given.shape) != tuple(tensor.shape) and (tuple(tensor.shape), tuple(given.shape)) != ((), (1,)):
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                    f"current model is {tensor.shape}."
                )
            else:
                _change(changes, functools.partial(self._take, name, tensor, given, assign))
        has_extra = type(self).set_extra_state is not Stateful.set_extra_state
        if has_extra:
            if prefix + EXTRA in state_dict:
                _change(changes, lambda: self.set_extra_state(state_dict[prefix + EXTRA]))
            else:
                missing_keys.append(prefix + EXTRA)
        known = {*own, *self._modules}
        for key in state_dict:
            if key.startswith(prefix):
                first, _, rest = key[len(prefix) :].partition(".")
                if has_extra and key == prefix + EXTRA:
                    continue
                if first not in known or (rest and first not in self._modules) or (not rest and first in self._modules):
                    unexpected_keys.append(key)

    def _take(self, name: str, tensor: Any, given: Any, assign: bool) -> None:
        """Have the numbers of `given` under a name; with `assign`, the tensor itself."""
        if not assign:
            tensor.detach().copy_(given.reshape(tensor.shape))
        elif isinstance(tensor, Parameter):
            kept = given if isinstance(given, Parameter) else Parameter(given, tensor.requires_grad)
            self._parameters[name] = kept
        else:
            self._buffers[name] = Buffer(given) if isinstance(tensor, Buffer) else given

    # -- hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` collects what this module has."""
        return registered(self._state_hooks["before saving"], hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` when `state_dict` has collected it."""
        return registered(self._state_hooks["after saving"], hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, ...)` before this module takes its state from the dictionary."""
        return registered(self._state_hooks["before loading"], lambda *given: hook(self, *given))

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> Any:
        called = (lambda *given: hook(self, *given)) if with_module else hook
        return registered(self._state_hooks["before loading"], called)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` when this module was asked; it may change the lists of keys."""
        return registered(self._state_hooks["after loading"], hook)


def state_hooks() -> dict[str, dict[int, Any]]:
    """The hooks of a new module: none."""
    return {name: {} for name in ("before saving", "after saving", "before loading", "after loading")}


def _change(changes: list[Callable[[], None]] | None, change: Callable[[], None]) -> None:
    """Make a change now, or have it made later."""
    if changes is None:
        change()
    else:
        changes.append(change)

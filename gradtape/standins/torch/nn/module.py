"""`torch.nn.Module`: parameters, buffers and other modules as attributes, and a `forward` that uses them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from gradtape.standins.torch.hooks import RemovableHandle
from gradtape.standins.torch.nn.backwardhooks import Backward
from gradtape.standins.torch.nn.parameter import Buffer, Parameter
from gradtape.standins.torch.tensor import Tensor

Self = TypeVar("Self", bound="Module")


class KeysMismatch(NamedTuple):
    """The names that `load_state_dict` did not find, and those it had no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Module:
    """A piece of a model.

    >>> from gradtape.standins import torch
    >>> torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def __init__(self, *_: Any, **__: Any) -> None:
        self._set_up()

    def _set_up(self) -> None:
        for name in ("_parameters", "_buffers", "_modules", "_before", "_after", "_backward", "_back", "_volatile"):
            object.__setattr__(self, name, {} if name != "_volatile" else set())
        object.__setattr__(self, "training", True)

    # -- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        places = self.__dict__
        if isinstance(value, (Parameter, Module)) and "_parameters" not in places:
            raise AttributeError(
                f"cannot assign {type(value).__name__.lower()} before Module.__init__() call.\n"
                "  fix: super().__init__() as the first line of __init__"
            )
        if isinstance(value, Parameter):
            self._forget(name)
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._forget(name)
            self._modules[name] = value
        elif isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
        elif name in places.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as parameter '{name}': torch.nn.Parameter or None expected"
                )
            self._parameters[name] = None
        elif name in places.get("_buffers", ()):
            self._buffers[name] = value
        elif name in places.get("_modules", ()):
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str) -> None:
        places: tuple[dict[str, Any], ...] = (self.__dict__, self._parameters, self._buffers, self._modules)
        for place in places:
            place.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        for place in ("_parameters", "_buffers", "_modules"):
            held = self.__dict__.get(place, {})
            if name in held:
                return held[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        places: tuple[dict[str, Any], ...] = (self._parameters, self._buffers, self._modules)
        for place in places:
            if name in place:
                del place[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Have a parameter (or None in its place) of that name."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}': torch.nn.Parameter or None "
                "required.\n  fix: torch.nn.Parameter(tensor)"
            )
        _check_name("parameter", name)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Have a tensor of that name that is kept and not trained."""
        _check_name("buffer", name)
        self.__dict__.pop(name, None)
        self._buffers[name] = tensor
        (self._volatile.discard if persistent else self._volatile.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Have a module (or None in its place) of that name."""
        if module is not None and not isinstance(module, Module):
            hint = "\n  fix: nn.Sequential(*modules)" if isinstance(module, (list, tuple)) else ""
            raise TypeError(f"{type(module).__name__} is not a Module subclass{hint}")
        _check_name("module", name)
        self._modules[name] = module

    register_module = add_module

    # -- what it holds

    def named_modules(self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all within it, each once, with their dotted names."""
        seen: set[int] = set() if memo is None else memo
        if id(self) in seen:
            return
        if remove_duplicate:
            seen.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(seen, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all within it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly within this one."""
        return ((name, module) for name, module in self._modules.items() if module is not None)

    def children(self) -> Iterator[Module]:
        """The modules directly within this one."""
        return (module for _, module in self.named_children())

    def _named(self, place: str, prefix: str, recurse: bool, once: bool = True) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, tensor in getattr(module, place).items():
                if tensor is not None and (not once or id(tensor) not in seen):
                    seen.add(id(tensor))
                    yield f"{path}.{name}" if path else name, tensor

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, each once, with their dotted names."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers, each once, with their dotted names."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _at(self, target: str) -> Module:
        module: Any = self
        for name in target.split(".") if target else []:
            module = getattr(module, name)
        return module  # type: ignore[no-any-return]

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name."""
        return self._at(target)

    def get_parameter(self, target: str) -> Any:
        """The parameter of a dotted name."""
        path, _, name = target.rpartition(".")
        return getattr(self._at(path), name)

    get_buffer = get_parameter

    def state_dict(self, *_: Any, prefix: str = "", keep_vars: bool = False) -> OrderedDict[str, Tensor]:
        """All parameters and buffers by their dotted names."""
        found: OrderedDict[str, Tensor] = OrderedDict()
        for path, module in self.named_modules(prefix=prefix.rstrip("."), remove_duplicate=False):
            held = [*module._parameters.items(), *module._buffers.items()]
            for name, tensor in held:
                if tensor is not None and name not in module._volatile:
                    found[f"{path}.{name}" if path else name] = tensor if keep_vars else tensor.detach()
        return found

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> KeysMismatch:
        """Take over numbers by name: all names and shapes are checked before anything changes."""
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = self.state_dict(keep_vars=True)
        absent = [name for name in own if name not in state_dict]
        surplus = [name for name in state_dict if name not in own]
        wrong = [
            f"size mismatch for {name}: copying a param with shape {given.shape} from checkpoint, the shape in current "
            f"model is {own[name].shape}."
            for name, given in state_dict.items()
            if name in own and tuple(given.shape) != tuple(own[name].shape)
        ]
        if strict and absent:
            wrong.append("Missing key(s) in state_dict: " + ", ".join(f'"{name}"' for name in absent) + ".")
        if strict and surplus:
            wrong.append("Unexpected key(s) in state_dict: " + ", ".join(f'"{name}"' for name in surplus) + ".")
        if wrong:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(wrong))
        for name, given in state_dict.items():
            if name in own:
                own[name].detach().copy_(given)
        return KeysMismatch(absent, surplus)

    # -- calling

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Write this one, and call the module itself."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}: super().__init__() was not called in __init__")
        for hook, with_names in list(self._before.values()):
            if with_names:
                args, kwargs = hook(self, args, kwargs) or (args, kwargs)
                continue
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        for hook in list(_before_all.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        watch = Backward(self, self._back, self._backward) if self._back or self._backward else None
        if watch is not None:
            args = watch.on_the_way_in(args)
        output = self.forward(*args, **kwargs)
        for hook in list(_after_all.values()):
            changed = hook(self, args, output)
            output = output if changed is None else changed
        for hook, with_names in list(self._after.values()):
            changed = hook(self, args, kwargs, output) if with_names else hook(self, args, output)
            output = output if changed is None else changed
        return output if watch is None else watch.on_the_way_out(output)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, **_: Any
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after each call; what it returns replaces the output unless None."""
        return _registered(self._after, (hook, with_kwargs), prepend)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before each call; what it returns replaces the arguments unless None."""
        return _registered(self._before, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` on the way back; what it returns replaces `grad_input`."""
        return _registered(self._backward, hook, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` on the way back; what it returns replaces `grad_output`."""
        return _registered(self._back, hook, prepend)

    @contextmanager
    def _swapped(self, given: dict[str, Tensor], strict: bool = False) -> Iterator[None]:
        """Within the block, other tensors in the place of parameters and buffers."""
        before: list[tuple[dict[str, Any], str, Any]] = []
        try:
            for path, tensor in given.items():
                prefix, _, name = path.rpartition(".")
                module = self._at(prefix)
                places: tuple[dict[str, Any], ...] = (module._parameters, module._buffers)
                place = next((p for p in places if name in p), None)
                if place is None:
                    if not strict:
                        continue
                    raise RuntimeError(f"functional_call: {type(self).__name__} has no parameter or buffer {path!r}")
                before.append((place, name, place[name]))
                place[name] = tensor
            yield
        finally:
            for place, name, tensor in reversed(before):
                place[name] = tensor

    # -- training or not, gradients, types

    def train(self: Self, mode: bool = True) -> Self:
        """Switch to training: dropout drops, batch norm uses the statistics of the batch."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self: Self) -> Self:
        """Switch to use: dropout does nothing, batch norm uses the statistics it has kept."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Switch recording on or off for all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters (or set them to zero)."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call a function with every module within this one, and this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self: Self, *where: Any, **options: Any) -> Self:
        """Parameters and buffers of floating point numbers in another type. There is one device, the CPU."""
        for _, tensor in [*self.named_parameters(), *self.named_buffers()]:
            if tensor.is_floating_point():
                tensor.data = tensor.detach().to(*where, **options)
        return self

    def float(self: Self) -> Self:
        """In single precision."""
        from gradtape.standins.torch import dtypes

        return self.to(dtypes.float32)

    def double(self: Self) -> Self:
        """In double precision."""
        from gradtape.standins.torch import dtypes

        return self.to(dtypes.float64)

    def half(self: Self) -> Self:
        """In half precision."""
        from gradtape.standins.torch import dtypes

        return self.to(dtypes.float16)

    def type(self: Self, dst_type: Any) -> Self:
        """In another type."""
        return self.to(dst_type)

    def cuda(self: Self, device: Any = None) -> Self:
        """There is no GPU here."""
        from gradtape.standins.torch.description import device as place

        place("cuda")
        return self

    def set_submodule(self, target: str, module: Module) -> None:
        """Put a module in the place of that of a dotted name."""
        path, _, name = target.rpartition(".")
        setattr(self._at(path), name, module)

    def cpu(self: Self) -> Self:
        """The module itself: it is on the CPU."""
        return self

    def compile(self, *_: Any, **__: Any) -> None:
        """Nothing: the stand-in runs operation by operation."""

    # -- as text

    def extra_repr(self) -> str:
        """What the brackets of the module's text say."""
        return ""

    def _get_name(self) -> str:
        return str(self.__dict__.get("_kind", type(self).__name__))

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inside = [f"({name}): {module!r}".replace("\n", "\n  ") for name, module in self._modules.items()]
        if len(lines) == 1 and not inside:
            return f"{self._get_name()}({extra})"
        if not lines and not inside:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join([*lines, *inside]) + "\n)"


_before_all: dict[int, Any] = {}
_after_all: dict[int, Any] = {}


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before each call of any module."""
    return _registered(_before_all, hook)


def register_module_forward_hook(hook: Callable[..., Any], **_: Any) -> RemovableHandle:
    """Call `hook(module, args, output)` after each call of any module."""
    return _registered(_after_all, hook)


def _check_name(what: str, name: str) -> None:
    if not name or "." in name:
        raise KeyError(f'{what} name can\'t be empty or contain ".", got: {name!r}')


def _registered(hooks: dict[int, Any], hook: Any, first: bool = False) -> RemovableHandle:
    """Have a hook called behind all others, or as the `first` of them."""
    key = max(hooks, default=0) + 1
    others = dict(hooks) if first else {}
    if first:
        hooks.clear()
    hooks[key] = hook
    hooks.update(others)
    return RemovableHandle(lambda: hooks.pop(key, None))

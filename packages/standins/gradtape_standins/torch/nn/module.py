"""`torch.nn.Module`: parameters, buffers and other modules as attributes, and a `forward` that uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from gradtape.extend import register_parameter_container
from gradtape_standins.torch.hooks import RemovableHandle, registered
from gradtape_standins.torch.nn.backward_hooks import Backward
from gradtape_standins.torch.nn.parameter import Buffer, Parameter
from gradtape_standins.torch.nn.states import Stateful, state_hooks
from gradtape_standins.torch.tensor import Tensor

Self = TypeVar("Self", bound="Module")


class Module(Stateful):
    """A piece of a model.

    >>> from gradtape_standins import torch
    >>> torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    training: bool
    call_super_init = False
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            given = f"an unexpected keyword argument '{next(iter(kwargs))}'" if kwargs else f"{len(args)} arguments"
            raise TypeError(
                f"{type(self).__name__}.__init__() got {given}, which Module does not take.\n"
                "  fix: super().__init__() without arguments"
            )
        self._set_up()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def _set_up(self) -> None:
        for name in ("_parameters", "_buffers", "_modules", "_before", "_after", "_backward", "_back", "_always"):
            object.__setattr__(self, name, {})
        object.__setattr__(self, "_volatile", set())
        object.__setattr__(self, "_state_hooks", state_hooks())
        object.__setattr__(self, "training", True)

    # -- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        places = self.__dict__
        if isinstance(value, (Parameter, Module)) and "_parameters" not in places:
            kind = "parameter" if isinstance(value, Parameter) else "module"
            raise AttributeError(
                f"cannot assign {kind} before Module.__init__() call.\n"
                "  fix: super().__init__() as the first line of __init__"
            )
        if isinstance(value, Parameter):
            self._forget(name, self._parameters)
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._forget(name, self._modules)
            self._modules[name] = value
        elif isinstance(value, Buffer):
            self._forget(name, self._buffers)
            self.register_buffer(name, value, value.persistent)
        elif name in places.get("_parameters", ()):
            if value is not None:
                raise _wrong_kind(value, "parameter", name, "torch.nn.Parameter or None")
            self._parameters[name] = None
        elif name in places.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise _wrong_kind(value, "buffer", name, "torch.nn.Buffer, torch.Tensor or None")
            self._buffers[name] = value
        elif name in places.get("_modules", ()):
            if value is not None:
                raise _wrong_kind(value, "child module", name, "torch.nn.Module or None")
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, kept: dict[str, Any] | None = None) -> None:
        """Have nothing of that name but in `kept`, where what is replaced keeps its place in the order."""
        places: tuple[dict[str, Any], ...] = (self.__dict__, self._parameters, self._buffers, self._modules)
        for place in places:
            if place is not kept:
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
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Have a parameter (or None in its place) of that name."""
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise _wrong_kind(param, "parameter", name, "torch.nn.Parameter or None")
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Have a tensor of that name that is kept and not trained."""
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise _wrong_kind(tensor, "buffer", name, "torch Tensor or None")
        self._buffers[name] = tensor
        (self._volatile.discard if persistent else self._volatile.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Have a module (or None in its place) of that name."""
        if module is not None and not isinstance(module, Module):
            hint = "\n  fix: nn.Sequential(*modules)" if isinstance(module, (list, tuple)) else ""
            raise TypeError(f"{type(module).__name__} is not a Module subclass{hint}")
        self._check_name("module", name, self._modules)
        self._modules[name] = module

    def _check_name(self, what: str, name: Any, place: dict[str, Any]) -> None:
        """Refuse a name that is none, and one that something else already has."""
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                f"cannot assign {what} before Module.__init__() call.\n"
                "  fix: super().__init__() as the first line of __init__"
            )
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}.\n  fix: str(name)")
        if not name or "." in name:
            raise KeyError(f'{what} name can\'t be empty or contain ".", got: {name!r}')
        if hasattr(self, name) and name not in place:
            raise KeyError(f"attribute '{name}' already exists")

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
        """The modules directly within this one, each once."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly within this one."""
        return (module for _, module in self.named_children())

    def _named(self, place: str, prefix: str, recurse: bool, once: bool = True) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=once) if recurse else [(prefix, self)]:
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
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` of {target!r} is not an nn.Module")
        return module  # type: ignore[no-any-return]

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name."""
        return self._at(target)

    def get_parameter(self, target: str) -> Any:
        """The parameter of a dotted name."""
        path, _, name = target.rpartition(".")
        found = getattr(self._at(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Any:
        """The buffer of a dotted name."""
        path, _, name = target.rpartition(".")
        module = self._at(path)
        found = getattr(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

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
        try:
            output = self.forward(*args, **kwargs)
        except BaseException:
            for hook, with_names in list(self._always.values()):
                hook(self, args, kwargs, None) if with_names else hook(self, args, None)
            raise
        for hook in list(_after_all.values()):
            changed = hook(self, args, output)
            output = output if changed is None else changed
        for hook, with_names in list(self._after.values()):
            changed = hook(self, args, kwargs, output) if with_names else hook(self, args, output)
            output = output if changed is None else changed
        return output if watch is None else watch.on_the_way_out(output)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after each call; what it returns replaces the output unless None.

        With `always_call` also where `forward` has raised an error: the output is None then.
        """
        handle = registered(self._after, (hook, with_kwargs), prepend)
        if not always_call:
            return handle
        always = registered(self._always, (hook, with_kwargs), prepend)

        def remove() -> None:
            handle.remove()
            always.remove()

        return RemovableHandle(remove)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before each call; what it returns replaces the arguments unless None."""
        return registered(self._before, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` on the way back; what it returns replaces `grad_input`."""
        return registered(self._backward, hook, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` on the way back; what it returns replaces `grad_output`."""
        return registered(self._back, hook, prepend)

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
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, and it is {mode!r}.\n  fix: True or False")
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
        from gradtape_standins.torch import dtypes

        for kind in (*where, options.get("dtype")):
            if isinstance(kind, dtypes.dtype) and not (kind.is_floating_point or kind.is_complex):
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                    f"dtype={kind}.\n  fix: torch.float32, or another type of floating point numbers"
                )
        for _, tensor in [*self.named_parameters(), *self.named_buffers()]:
            if tensor.is_floating_point():
                tensor.data = tensor.detach().to(*where, **options)
        return self

    def float(self: Self) -> Self:
        """In single precision."""
        from gradtape_standins.torch import dtypes

        return self.to(dtypes.float32)

    def double(self: Self) -> Self:
        """In double precision."""
        from gradtape_standins.torch import dtypes

        return self.to(dtypes.float64)

    def half(self: Self) -> Self:
        """In half precision."""
        from gradtape_standins.torch import dtypes

        return self.to(dtypes.float16)

    def type(self: Self, dst_type: Any) -> Self:
        """In another type."""
        return self.to(dst_type)

    def cuda(self: Self, device: Any = None) -> Self:
        """There is no GPU here."""
        from gradtape_standins.torch.size_and_device import device as place

        place("cuda")
        return self

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module in the place of that of a dotted name, which has to be there if `strict`."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        holder = self._at(path)
        if not isinstance(module, Module):
            raise ValueError(f"`module` is a {type(module).__name__}; an nn.Module is accepted")
        if strict and not hasattr(holder, name):
            raise AttributeError(f"{type(holder).__name__} has no attribute `{name}`")
        setattr(holder, name, module)

    def share_memory(self: Self) -> Self:
        """The module itself: there is one process here."""
        return self

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """The module itself on the CPU, whose numbers may be anything after this: they stay what they are."""
        from gradtape_standins.torch.size_and_device import device as place

        place(device)
        return self

    def bfloat16(self: Self) -> Self:
        """Refused: NumPy has no bfloat16."""
        raise NotImplementedError("Module.bfloat16: NumPy has no bfloat16.\n  fix: float() or half()")

    def xpu(self: Self, device: Any = None) -> Self:
        """There is no such device here."""
        from gradtape_standins.torch.size_and_device import device as place

        place("xpu")
        return self

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


def _parts(module: Module) -> list[tuple[str, Any]]:
    """What a report names in a module: gradtape's tensors of its parameters and buffers, and its modules."""
    places = [vars(module).get(place, {}) for place in ("_parameters", "_buffers", "_modules")]
    items = [item for place in places for item in place.items()]
    return [(name, part._held if isinstance(part, Tensor) else part) for name, part in items]


register_parameter_container(Module, _parts)

_before_all: dict[int, Any] = {}
_after_all: dict[int, Any] = {}


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before each call of any module."""
    return registered(_before_all, hook)


def register_module_forward_hook(hook: Callable[..., Any], **_: Any) -> RemovableHandle:
    """Call `hook(module, args, output)` after each call of any module."""
    return registered(_after_all, hook)


def _wrong_kind(value: Any, what: str, name: str, accepted: str) -> TypeError:
    kind = f"torch.{type(value).__name__}" if isinstance(value, Tensor) else type(value).__name__
    hint = "\n  fix: torch.nn.Parameter(tensor)" if isinstance(value, Tensor) and what == "parameter" else ""
    return TypeError(f"cannot assign '{kind}' as {what} '{name}' ({accepted} expected){hint}")

"""Module: parameters, buffers and other modules as attributes, and a `forward` that uses them.

Nothing is registered. Parameters are trainable `gt.Variable`s, buffers (running statistics) are variables with
`trainable=False`, and both are found where they are: in attributes, also within lists, tuples and dictionaries.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np

from gradtape.errors import DtypeError, OperandError
from gradtape.extend import Variable, argument_error, messages, plain, register_parameter_container
from gradtape.nn.init import Initialiser
from gradtape.nn.names import check_names, checked_array, checked_generator, joined, nested

Shape = tuple[int, ...]
Self = TypeVar("Self", bound="Module")


@dataclass(frozen=True)
class Declared:
    """A parameter as it was declared: its shape and dtype, and how its first numbers are made."""

    shape: Shape
    initialiser: Initialiser
    dtype: np.dtype[Any]

    def drawn(self, rng: np.random.Generator) -> Any:
        """An initial value, drawn by the initialiser."""
        return self.initialiser(rng, self.shape, self.dtype)


class Hook:
    """A forward hook that is registered; `remove()` takes it off again.

    >>> import numpy as np, gradtape as gt
    >>> layer, shapes = gt.nn.ReLU(), []
    >>> hook = layer.register_forward_hook(lambda module, inputs, output: shapes.append(output.shape))
    >>> _ = layer(np.ones(3)), hook.remove(), layer(np.ones(4))
    >>> shapes
    [(3,)]
    """

    def __init__(self, hooks: list[Callable[..., Any]], function: Callable[..., Any]) -> None:
        self._hooks, self._function = hooks, function
        hooks.append(function)

    def remove(self) -> None:
        """Take the hook off. Once more does nothing."""
        if self._function in self._hooks:
            self._hooks.remove(self._function)


class Module:
    """A piece of a model: attributes that are parameters, buffers or modules, and a `forward` that uses them.

    >>> import numpy as np, gradtape as gt
    >>> class Scaled(gt.nn.Module):
    ...     def __init__(self, width, rng):
    ...         self.inner = gt.nn.Dense(width, 1, rng=rng)
    ...         self.scale = gt.Variable(np.float32(2.0))
    ...
    ...     def forward(self, x):
    ...         return self.scale * self.inner(x)
    >>> model = Scaled(3, np.random.default_rng(0))
    >>> [name for name, _ in model.named_parameters()]
    ['scale', 'inner.weight', 'inner.bias']
    >>> with gt.GradientTape() as tape:
    ...     loss = (model(np.ones((4, 3), np.float32)) ** 2).mean()
    >>> [gradient.shape for gradient in tape.gradient(loss, model.parameters())]
    [(), (1, 3), (1,)]
    """

    training: bool
    _declared: dict[str, Declared]
    _hooks: list[Callable[..., Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        module = object.__new__(cls)
        vars(module).update(training=True, _declared={}, _hooks=[])
        return module

    # -- what subclasses write

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Write this one, and call the module itself."""
        raise argument_error(
            OperandError,
            f"{type(self).__name__}: forward is not written.",
            f"class {type(self).__name__}(gt.nn.Module): def forward(self, x): return ...",
        )

    def extra_repr(self) -> str:
        """What the brackets of the module's text say."""
        return ""

    def make_parameter(self, array: Any) -> Variable:
        """What holds the numbers of a declared parameter."""
        return Variable(array)

    def make_buffer(self, array: Any) -> Variable:
        """What holds numbers that are kept from call to call and not trained."""
        return Variable(array, trainable=False)

    def declare(
        self,
        name: str,
        shape: Shape,
        initialiser: Initialiser,
        dtype: Any = np.float32,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Have a parameter of that name: with numbers now if `rng` is given, else when `initialise` is called.

        >>> import numpy as np, gradtape as gt
        >>> class Shift(gt.nn.Module):
        ...     def __init__(self, width, rng=None):
        ...         self.declare("offset", (width,), gt.nn.init.zeros(), rng=rng)
        ...     def forward(self, x):
        ...         return x + self.offset
        >>> Shift(2).initialise(np.random.default_rng(0)).offset
        Variable([0., 0.], dtype=float32)
        """
        kind = np.dtype(dtype)
        if kind.kind not in "fc":
            raise argument_error(
                DtypeError,
                f"{type(self).__name__}: dtype={kind}; parameters are floating point numbers.",
                "dtype=np.float32 or np.float64",
            )
        self._declared[name] = declared = Declared(tuple(shape), initialiser, kind)
        if rng is not None:
            setattr(self, name, self.make_parameter(declared.drawn(checked_generator(rng, type(self).__name__))))

    def set_buffer(self, name: str, value: Any) -> None:
        """Replace the numbers of a buffer: in the variable, or in the copy that `functional_call` works on."""
        current = getattr(self, name)
        if isinstance(current, Variable):
            current.assign(value)
        else:
            setattr(self, name, value)

    # -- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        output = self.forward(*args, **kwargs)
        if output is None:
            messages.check_result_kept(self.forward, type(self).__name__)
        for hook in self._hooks:
            changed = hook(self, args, output)
            output = output if changed is None else changed
        return output

    def __getattr__(self, name: str) -> NoReturn:
        kind = type(self).__name__
        if name in vars(self).get("_declared", {}):
            raise argument_error(
                OperandError,
                f"{kind}: {name} has no numbers yet, because no generator was given.",
                f"model.initialise(np.random.default_rng(seed)) for all layers at once, or {kind}(..., rng=rng)",
            )
        near = difflib.get_close_matches(name, [*vars(self), *dir(type(self))], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"{kind} has no attribute {name!r}{hint}")

    def register_forward_hook(self, function: Callable[..., Any]) -> Hook:
        """Call `function(module, inputs, output)` after each call; what it returns replaces the output unless None.

        >>> import numpy as np, gradtape as gt
        >>> layer = gt.nn.ReLU()
        >>> _ = layer.register_forward_hook(lambda module, inputs, output: output + 1.0)
        >>> layer(np.array([-1.0, 1.0]))
        array([1., 2.])
        """
        return Hook(self._hooks, function)

    # -- what it holds

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all within it, each once, with their dotted names."""
        return _modules(self, prefix, set())

    def modules(self) -> Iterator[Module]:
        """This module and all within it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly within this one."""
        return ((name, value) for name, value in _members(self) if isinstance(value, Module))

    def children(self) -> Iterator[Module]:
        """The modules directly within this one."""
        return (module for _, module in self.named_children())

    def _variables(self) -> Iterator[tuple[str, Module, str, Variable]]:
        """All variables, each once: the dotted name, the module that holds it, the name within it."""
        seen: set[int] = set()
        for prefix, module in self.named_modules():
            for name, value in _members(module):
                if isinstance(value, Variable) and id(value) not in seen:
                    seen.add(id(value))
                    yield joined(prefix, name), module, name, value

    def named_parameters(self) -> Iterator[tuple[str, Variable]]:
        """The trainable variables, each once, with their dotted names."""
        self._check_initialised()
        return ((name, value) for name, _, _, value in self._variables() if value.trainable)

    def parameters(self) -> list[Variable]:
        """The trainable variables, each once.

        >>> import numpy as np, gradtape as gt
        >>> [p.shape for p in gt.nn.Dense(3, 2, rng=np.random.default_rng(0)).parameters()]
        [(2, 3), (2,)]
        """
        return [value for _, value in self.named_parameters()]

    def named_buffers(self) -> Iterator[tuple[str, Variable]]:
        """The variables that are not trainable, with their dotted names."""
        return ((name, value) for name, _, _, value in self._variables() if not value.trainable)

    def buffers(self) -> list[Variable]:
        """The variables that are not trainable."""
        return [value for _, value in self.named_buffers()]

    def _check_initialised(self) -> None:
        for prefix, module in self.named_modules():
            for name in module._declared:
                if name not in vars(module):
                    raise argument_error(
                        OperandError,
                        f"{type(self).__name__}: the parameter {joined(prefix, name)!r} has no numbers yet, because "
                        "no generator was given.",
                        "model.initialise(np.random.default_rng(seed)), or rng=rng when the layer is made",
                    )

    # -- training or not

    def train(self: Self, mode: bool = True) -> Self:
        """Switch to training: dropout drops, batch norm uses and keeps the statistics of the batch.

        >>> import gradtape as gt
        >>> gt.nn.Sequential(gt.nn.Dropout(0.5)).eval()[0].training
        False
        """
        for module in self.modules():
            module.training = bool(mode)
        return self

    def eval(self: Self) -> Self:
        """Switch to use: dropout does nothing, batch norm uses the statistics it has kept."""
        return self.train(False)

    # -- numbers in and out

    def init(self, rng: np.random.Generator) -> dict[str, Any]:
        """Fresh parameters as a nested dictionary of arrays, for `apply`. The module stays as it is.

        A variable that was made by hand, and not declared, gives a copy of what it holds.

        >>> import numpy as np, gradtape as gt
        >>> model = gt.nn.Sequential(gt.nn.Dense(2, 3), gt.nn.Tanh(), gt.nn.Dense(3, 1))
        >>> params = model.init(np.random.default_rng(0))
        >>> params["0"]["weight"].shape, model.apply(params, np.ones((5, 2), np.float32)).shape
        ((3, 2), (5, 1))
        """
        return nested(self._fresh(checked_generator(rng, "init")))

    def _fresh(self, rng: np.random.Generator) -> dict[str, Any]:
        drawn: dict[int, str] = {}
        found: dict[str, Any] = {}
        for prefix, module in self.named_modules():
            for name, declared in module._declared.items():
                value = vars(module).get(name)
                if value is None or id(value) not in drawn:  # a variable that two layers share is drawn once
                    found[joined(prefix, name)] = declared.drawn(rng)
                    drawn[id(value)] = name
            for name, value in _members(module):
                if isinstance(value, Variable) and value.trainable and id(value) not in drawn:
                    found[joined(prefix, name)] = np.array(plain(value))
                    drawn[id(value)] = name
        return found

    def initialise(self: Self, rng: np.random.Generator) -> Self:
        """Give every declared parameter fresh numbers, and every dropout a generator of its own, from `rng`.

        >>> import numpy as np, gradtape as gt
        >>> model = gt.nn.Sequential(gt.nn.Dense(2, 3), gt.nn.Dropout(0.1), gt.nn.Dense(3, 1))
        >>> model.initialise(np.random.default_rng(0))(np.ones((5, 2), np.float32)).shape
        (5, 1)
        """
        fresh = self._fresh(checked_generator(rng, "initialise"))
        for prefix, module in self.named_modules():
            for name in module._declared:
                if joined(prefix, name) in fresh:
                    _fill(module, name, fresh[joined(prefix, name)])
            if "rng" in vars(module):
                vars(module)["rng"] = rng.spawn(1)[0]
        return self

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as a nested dictionary of arrays: copies.

        >>> import numpy as np, gradtape as gt
        >>> gt.nn.Dense(1, 2, weight_init=gt.nn.init.ones(), rng=np.random.default_rng(0)).params["weight"]
        array([[1.],
               [1.]], dtype=float32)
        """
        return nested({name: np.array(plain(value)) for name, value in self.named_parameters()})

    @property
    def buffer_values(self) -> dict[str, Any]:
        """The buffers as a nested dictionary of arrays: copies."""
        return nested({name: np.array(plain(value)) for name, value in self.named_buffers()})

    def state_dict(self) -> dict[str, Any]:
        """All parameters and buffers by dotted name: copies.

        >>> import numpy as np, gradtape as gt
        >>> list(gt.nn.BatchNorm1d(3, rng=np.random.default_rng(0)).state_dict())
        ['weight', 'bias', 'running_mean', 'running_var', 'num_batches_tracked']
        """
        self._check_initialised()
        return {name: np.array(plain(value)) for name, _, _, value in self._variables()}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Take over numbers by dotted name. All names, shapes and dtypes are checked before anything changes.

        With `strict=False`, names that only one side has are left alone.

        >>> import numpy as np, gradtape as gt
        >>> layer = gt.nn.Dense(2, 1)
        >>> layer.load_state_dict({"weight": np.ones((1, 2)), "bias": np.zeros(1)})
        >>> layer(np.ones((1, 2), np.float32))
        Tensor([[2.]], dtype=float32)
        """
        places: dict[str, tuple[Module, str, Shape, np.dtype[Any]]] = {}
        for prefix, module in self.named_modules():
            for name, declared in module._declared.items():
                if name not in vars(module):
                    places[joined(prefix, name)] = (module, name, declared.shape, declared.dtype)
        for path, module, name, value in self._variables():
            places[path] = (module, name, value.shape, value.dtype)
        if not isinstance(state, Mapping):
            raise argument_error(
                OperandError,
                f"load_state_dict: a {type(state).__name__}; a dictionary of arrays by name is accepted.",
                "model.load_state_dict(other.state_dict())",
            )
        if strict:
            check_names("load_state_dict", "the model", "the state", places, state)
        new: list[tuple[Module, str, Any]] = []
        for path, (module, name, shape, dtype) in places.items():
            if path in state:
                new.append((module, name, checked_array("load_state_dict", path, state[path], shape, dtype)))
        for module, name, array in new:
            _fill(module, name, array)

    def apply(
        self,
        params: Mapping[str, Any],
        *args: Any,
        buffers: Mapping[str, Any] | None = None,
        rng: np.random.Generator | None = None,
        training: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """The module as a function of its parameters: `functional_call(self, params, *args, ...)`.

        >>> import numpy as np, gradtape as gt
        >>> layer = gt.nn.Dense(2, 1)
        >>> params = {"weight": np.array([[1.0, 2.0]]), "bias": np.zeros(1)}
        >>> gt.grad(lambda params: layer.apply(params, np.array([[3.0, 4.0]])).sum())(params)
        {'weight': array([[3., 4.]]), 'bias': array([1.])}
        """
        from gradtape.nn.calling import functional_call

        return functional_call(self, params, *args, buffers=buffers, rng=rng, training=training, **kwargs)

    # -- as text

    def __repr__(self) -> str:
        inside = [f"({name}): {module!r}".replace("\n", "\n  ") for name, module in self.named_children()]
        if not inside:
            return f"{type(self).__name__}({self.extra_repr()})"
        head = [self.extra_repr()] if self.extra_repr() else []
        return "\n  ".join([f"{type(self).__name__}(", *head, *inside]) + "\n)"

    def _repr_html_(self) -> str:
        """A table of what it holds, for notebooks: a row for each parameter and buffer, by path."""
        from gradtape.nn.display import module_html  # lazy: for notebooks only

        return module_html(self)


# -- what is in a module


def _members(module: Module) -> Iterator[tuple[str, Any]]:
    """The variables and modules directly in `module`, also those in its lists, tuples and dictionaries."""
    for name, value in vars(module).items():
        yield from _inside(name, value)


def _inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Variable | Module):
        yield name, value
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from _inside(f"{name}.{index}", part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _inside(f"{name}.{key}", part)


register_parameter_container(Module, _members)


def _modules(module: Module, prefix: str, seen: set[int]) -> Iterator[tuple[str, Module]]:
    if id(module) in seen:
        return
    seen.add(id(module))
    yield prefix, module
    for name, child in module.named_children():
        yield from _modules(child, joined(prefix, name), seen)


def _fill(module: Module, name: str, array: Any) -> None:
    """Put numbers into a variable of `module`, which may be in a list of its, or not there yet."""
    for key, value in _members(module):
        if key == name:
            value.assign(array)
            return
    setattr(module, name, module.make_parameter(array))

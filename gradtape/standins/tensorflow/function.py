"""`tf.function`: traced once for each kind of arguments, as far as Python's side effects on the screen go.

Nothing is compiled: the function runs each time, so branches and loops on values behave as in Python. The first call
with arguments of a kind (shapes and dtypes of tensors, values of everything else) is the trace: its tensors print as
symbols, and `print` prints. Later calls of that kind are silent but for `tf.print`, as replayed graphs are.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.core.structure import leaves, map_structure, rebuild
from gradtape.standins.tensorflow.conversion import Holder, value_of
from gradtape.standins.tensorflow.errors import explained
from gradtape.standins.tensorflow.scopes import made_while_tracing, mode
from gradtape.standins.tensorflow.shapes import TensorSpec
from gradtape.standins.tensorflow.tensor import EagerTensor, Tensor, wrap
from gradtape.standins.tensorflow.variable import Variable, made_at_every_call

_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether `tf.function` is to do nothing at all."""
    global _eagerly
    _eagerly = run_eagerly


def functions_run_eagerly() -> bool:
    """Whether `tf.function` does nothing at all."""
    return _eagerly


class _Silence:
    """Takes the place of `print` while functions run again; only calls from inside of them are silent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._print = builtins.print

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        if mode.get() != "replaying":
            self._print(*args, **kwargs)

    @contextmanager
    def around(self) -> Iterator[None]:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._print, builtins.print = builtins.print, self
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    builtins.print = self._print


_silence = _Silence()


class ConcreteFunction:
    """A function for arguments of one kind."""

    def __init__(self, function: Function, specs: dict[str, Any]) -> None:
        self._function = function
        self._specs = specs
        self._outputs: Any = None

    @property
    def structured_input_signature(self) -> Any:
        """The specifications of the arguments."""
        return tuple(self._specs.values()), {}

    @property
    def structured_outputs(self) -> Any:
        """The specifications of what it returns; None before it has been called."""
        return self._outputs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = [spec for spec in self._specs.values() if isinstance(spec, TensorSpec)]
        given = list(args)
        if len(given) == len(tensors) < len(self._specs):
            supply = iter(given)
            given = [next(supply) if isinstance(spec, TensorSpec) else spec for spec in self._specs.values()]
        for value, (name, spec) in zip(given, self._specs.items()):
            if isinstance(spec, TensorSpec) and not spec.is_compatible_with(wrap(value_of(value))):
                raise TypeError(
                    explained(
                        f"{self._function.__name__}: {name} is to be {spec}; got {_spec_of(wrap(value_of(value)))}"
                    )
                )
        result = self._function(*given, **kwargs)
        self._outputs = map_structure(_spec_of, result)
        return result

    def __repr__(self) -> str:
        lines = ["ConcreteFunction Input Parameters:"]
        lines += [f"  {name} (POSITIONAL_OR_KEYWORD): {spec!r}" for name, spec in self._specs.items()] or ["  None"]
        lines += ["Output Type:", f"  {self._outputs!r}", "Captures:", "  None"]
        return "\n".join(lines)


def _spec_of(x: Any) -> Any:
    return TensorSpec(x.shape, x.dtype) if isinstance(x, Holder) else x  # type: ignore[attr-defined]


class Function:
    """What `tf.function` returns."""

    __name__: str

    def __init__(self, function: Callable[..., Any], input_signature: Any = None) -> None:
        functools.update_wrapper(self, function, updated=())
        self.python_function = function
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._traces: dict[Any, ConcreteFunction] = {}
        self._methods: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        bound = self._methods.get(instance)
        if bound is None:
            # a bound method would keep the instance alive, and with it this entry
            holder = weakref.ref(instance)

            @functools.wraps(self.python_function)
            def method(*args: Any, **kwargs: Any) -> Any:
                return self.python_function(holder(), *args, **kwargs)

            method.__signature__ = _without_self(self.python_function)  # type: ignore[attr-defined]
            bound = self._methods[instance] = Function(method, self.input_signature)
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's answer; its numbers as tensors."""
        if _eagerly:
            return self.python_function(*args, **kwargs)
        args, kwargs = self._canonical(args, kwargs)
        key = _kind((args, kwargs)) if self.input_signature is None else "signature"
        if key in self._traces:
            with _silence.around():
                return self._run("replaying", args, kwargs)
        names = self._names(args, kwargs)
        made: list[Any] = []
        token = made_while_tracing.set(made)
        try:
            result = self._run("tracing", *_symbols(names, args, kwargs))
        finally:
            made_while_tracing.reset(token)
        if any(variable() is None for variable in made):  # nobody kept it, so the next call would make another
            raise ValueError(made_at_every_call())
        self._traces[key] = trace = ConcreteFunction(
            self, {name: map_structure(_spec_of, x) for name, x in names.items()}
        )
        trace._outputs = map_structure(_spec_of, result)
        return result

    def _run(self, how: str, args: Any, kwargs: Any) -> Any:
        token = mode.set(how)
        try:
            return map_structure(_returned, self.python_function(*args, **kwargs))
        finally:
            mode.reset(token)

    def _canonical(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with arrays as tensors, and as the signature wants them."""
        args, kwargs = map_structure(lambda x: wrap(value_of(x)) if isinstance(x, np.ndarray) else x, (args, kwargs))
        if self.input_signature is None:
            return args, kwargs
        given = self._names(args, kwargs)
        if len(given) < len(self.input_signature):
            raise TypeError(
                explained(
                    f"{self.__name__}: {len(self.input_signature)} arguments in input_signature; got {len(given)}"
                )
            )
        fitted = []
        for (name, value), spec in zip(given.items(), self.input_signature):
            if isinstance(spec, TensorSpec) and not isinstance(value, Holder):
                value = wrap(value_of(value, spec.dtype))
            for one, its in zip(leaves(value), leaves(spec)):
                if isinstance(its, TensorSpec) and not its.is_compatible_with(one):
                    raise TypeError(
                        explained(
                            f"Binding inputs to tf.function failed: {name} is {_spec_of(one)}, and input_signature "
                            f"wants {its}",
                            "change the argument or input_signature (None stands for any length)",
                        )
                    )
            fitted.append(value)
        return tuple(fitted), {}

    def _names(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by name."""
        try:
            bound = inspect.signature(self.python_function).bind(*args, **kwargs)
        except (TypeError, ValueError) as error:
            if isinstance(error, TypeError):
                raise TypeError(explained(f"{self.__name__}: {error}")) from None
            return {f"arg{place}": value for place, value in enumerate(args)} | kwargs
        return dict(bound.arguments)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of the kind of these, which may be `tf.TensorSpec`s."""
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        return ConcreteFunction(self, {n: map_structure(_spec_of, x) for n, x in self._names(args, kwargs).items()})

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced."""
        return len(self._traces)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The traces that there are."""
        return "\n\n".join(repr(trace) for trace in self._traces.values())

    def __repr__(self) -> str:
        return f"<tensorflow.python.eager.polymorphic_function.polymorphic_function.Function object at {id(self):#x}>"


def _without_self(function: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(function)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _symbols(names: dict[str, Any], args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments with tensors that print as symbols, called by the names of the arguments."""
    called = {id(x): name for name, value in names.items() for x in leaves(value)}
    made = []
    for x in leaves((args, kwargs)):
        if isinstance(x, Tensor):
            made.append(EagerTensor(x._value))
            made[-1].symbol = called.get(id(x), "args")
        else:
            made.append(x)
    symbols: tuple[Any, Any] = rebuild((args, kwargs), made)
    return symbols


def _kind(arguments: Any) -> Any:
    """What two calls share if they need one trace: the structure, the kinds of tensors, the values of the rest."""
    parts: list[Any] = []
    for x in leaves(arguments):
        if isinstance(x, Variable):
            parts.append(("variable", id(x)))
        elif isinstance(x, Holder):
            parts.append((x._value.shape, x._value.dtype.str))
        else:
            try:
                hash(x)
                parts.append((type(x), x))
            except TypeError:
                parts.append((type(x), id(x)))
    return repr(map_structure(lambda x: 0, arguments)), tuple(parts)


def _returned(x: Any) -> Any:
    """What the function returned, as a graph returns it: numbers are tensors, variables their values."""
    if isinstance(x, Variable):
        return x.value()
    if isinstance(x, Tensor):
        return EagerTensor(x._value) if x.symbol is not None else x
    if isinstance(x, bool | int | float | complex | np.ndarray | np.generic | gt.Tensor):
        return wrap(value_of(x))
    return x


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
) -> Any:
    """A function that is traced once for each kind of arguments.

    >>> from gradtape.standins import tensorflow as tf
    >>> @tf.function
    ... def square(x):
    ...     print("tracing", x)
    ...     return x * x
    >>> square(tf.constant(2.0)).numpy(), square(tf.constant(3.0)).numpy()
    tracing Tensor("x:0", shape=(), dtype=float32)
    (np.float32(4.0), np.float32(9.0))
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature)
    return Function(func, input_signature)


def py_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """`func` called with tensors; gradients go through it."""
    result = func(*(wrap(value_of(x)) for x in inp))
    return _typed(result, Tout, value_of)


def numpy_function(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """`func` called with arrays; no gradient goes through it."""
    result = func(*(wrap(value_of(x)).numpy() for x in inp))
    return _typed(result, Tout, value_of)


def _typed(result: Any, dtype: Any, convert: Callable[..., Any]) -> Any:
    if isinstance(dtype, list | tuple):
        return [wrap(convert(part, kind)) for part, kind in zip(result, dtype, strict=True)]
    return None if result is None else wrap(convert(result, dtype))

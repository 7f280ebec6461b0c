"""`tf.function`: traced once for each kind of arguments, as far as Python's side effects on the screen go.

The function runs each time, so branches and loops on values behave as in Python. The first call with arguments of a
kind (shapes and dtypes of tensors, values of everything else) is the trace: its tensors print as symbols, and `print`
prints. Later calls of that kind are silent but for `tf.print`, as replayed graphs are. What is called often is handed
to `gt.jit` (auto_jit.py).
"""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import after_fork_in_child, fork_safe, leave_tape, leaves, map_structure, rebuild
from gradtape_standins.tensorflow.auto_jit import AutoJit, returned
from gradtape_standins.tensorflow.conversion import Holder, value_of
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.execution_context import graph_tape, made_while_tracing, mode, note_effect
from gradtape_standins.tensorflow.shapes import TensorSpec
from gradtape_standins.tensorflow.tensor import EagerTensor, Tensor, wrap
from gradtape_standins.tensorflow.variable import Variable, made_at_every_call

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
        self._lock = fork_safe(threading.Lock())
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

    def forget_other_threads(self) -> None:
        """Put `print` back in a child process, where no other thread is replaying any more."""
        if self._users and mode.get() != "replaying":
            self._users = 0
            builtins.print = self._print


_silence = _Silence()
after_fork_in_child(_silence.forget_other_threads)


class ConcreteFunction:
    """A function for arguments of one kind."""

    def __init__(self, function: Function, specs: dict[str, Any]) -> None:
        self._function = function
        self._specs = specs
        self._outputs: Any = None
        self.auto_jit = AutoJit(function.python_function, function.jit_compile)

    @property
    def structured_input_signature(self) -> Any:
        """The specifications of the arguments, with their names."""
        return tuple(_named(spec, name) for name, spec in self._specs.items()), {}

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
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The arguments, the output and what is captured, one to a line."""
        lines = ["Input Parameters:"]
        lines += [f"  {name} (POSITIONAL_OR_KEYWORD): {_typed_as(spec)}" for name, spec in self._specs.items()] or [
            "  None"
        ]
        lines += ["Output Type:", f"  {_typed_as(self._outputs)}", "Captures:", "  None"]
        return "\n".join(lines)


def _named(spec: Any, name: str) -> Any:
    return TensorSpec(spec.shape, spec.dtype, name) if isinstance(spec, TensorSpec) else spec


def _typed_as(spec: Any) -> str:
    """How TensorFlow writes the type of an argument or output: Python's values as literals."""
    if isinstance(spec, list | tuple):
        return f"{type(spec).__name__.capitalize()}[{', '.join(_typed_as(part) for part in spec)}]"
    if isinstance(spec, dict):
        return f"Dict[{', '.join(f'[{key!r}, {_typed_as(part)}]' for key, part in spec.items())}]"
    return f"Literal[{spec!r}]" if isinstance(spec, bool | int | float | str) else repr(spec)


def _spec_of(x: Any) -> Any:
    return TensorSpec(x.shape, x.dtype) if isinstance(x, Holder) else x  # type: ignore[attr-defined]


class Function:
    """What `tf.function` returns."""

    __name__: str

    def __init__(
        self, function: Callable[..., Any], input_signature: Any = None, jit_compile: bool | None = None
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self.python_function = function
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self.jit_compile = jit_compile
        self._differentiates = _mentions(function, {"gradients", "hessians"})
        self._traces: dict[Any, ConcreteFunction] = {}

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        # kept in the instance, so that both go together; a copy of the instance has those of the original. `gt.jit`
        # does not look into a namespace, where what is counted here would be a change at every call
        held = SimpleNamespace(functions={})
        kept = vars(instance).setdefault("_tf_functions", held).functions if hasattr(instance, "__dict__") else {}
        bound = kept.get(id(self))
        if bound is None or bound.python_function.__self__ is not instance:
            method = MethodType(self.python_function, instance)
            bound = kept[id(self)] = Function(method, self.input_signature, self.jit_compile)
        return bound

    def __deepcopy__(self, memo: Any) -> Function:
        return Function(copy.deepcopy(self.python_function, memo), self.input_signature, self.jit_compile)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's answer; its numbers as tensors."""
        if _eagerly:
            return self.python_function(*args, **kwargs)
        args, kwargs = self._canonical(args, kwargs)
        key = _kind((args, kwargs)) if self.input_signature is None else "signature"
        if key in self._traces:
            with _silence.around():
                return self._run("replaying", args, kwargs, self._traces[key].auto_jit)
        names = self._names(args, kwargs)
        made: list[Any] = []
        token = made_while_tracing.set(made)
        try:
            result = self._run("tracing", *_symbols(names, args, kwargs, self.input_signature))
        finally:
            made_while_tracing.reset(token)
        if any(variable() is None for variable in made):  # nobody kept it, so the next call would make another
            raise ValueError(made_at_every_call())
        self._traces[key] = trace = ConcreteFunction(
            self, {name: map_structure(_spec_of, x) for name, x in names.items()}
        )
        trace._outputs = map_structure(_spec_of, result)
        return result

    def _run(self, how: str, args: Any, kwargs: Any, auto_jit: AutoJit | None = None) -> Any:
        token = mode.set(how)
        try:
            with self._recorded((args, kwargs)):
                if auto_jit is not None and not self._differentiates:
                    return auto_jit(args, kwargs)
                return map_structure(returned, self.python_function(*args, **kwargs))
        finally:
            mode.reset(token)

    @contextmanager
    def _recorded(self, arguments: Any) -> Iterator[None]:
        """A block that is recorded whole if the function calls `tf.gradients`, which asks of what came before."""
        if not self._differentiates or graph_tape.get() is not None:
            yield
            return
        with gt.GradientTape(persistent=True) as tape:
            token = graph_tape.set(tape)
            try:
                for x in leaves(arguments):
                    if isinstance(x, Holder) and x._value.dtype.kind in "fc":
                        tape.watch(x._value)
                yield
            finally:
                graph_tape.reset(token)

    def _canonical(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with arrays as tensors, and as the signature wants them."""
        args, kwargs = map_structure(lambda x: wrap(value_of(x)) if isinstance(x, np.ndarray) else x, (args, kwargs))
        if self.input_signature is None:
            if kwargs:  # by name or by place is one kind of call
                try:
                    bound = inspect.signature(self.python_function).bind(*args, **kwargs)
                except (TypeError, ValueError):
                    return args, kwargs
                return bound.args, bound.kwargs
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
        return "\n\n".join(trace.pretty_printed_signature() for trace in self._traces.values())

    def __repr__(self) -> str:
        return f"<tensorflow.python.eager.polymorphic_function.polymorphic_function.Function object at {id(self):#x}>"


def _mentions(function: Callable[..., Any], names: set[str], seen: frozenset[int] = frozenset()) -> bool:
    """Whether the code of `function`, or of a function that it reaches by name, uses one of `names`."""
    function = inspect.unwrap(getattr(function, "python_function", function))
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None or id(code) in seen:
        return False
    waiting, used = [code], set()
    while waiting:
        one = waiting.pop()
        used |= {*one.co_names, *one.co_freevars}
        waiting += [part for part in one.co_consts if isinstance(part, CodeType)]
    if used & names:
        return True
    reached = inspect.getclosurevars(function)
    others = [found for name, found in {**reached.globals, **reached.nonlocals}.items() if name in used]
    return any(_mentions(f, names, seen | {id(code)}) for f in others if isinstance(f, FunctionType | Function))


def _symbols(names: dict[str, Any], args: Any, kwargs: Any, signature: Any) -> tuple[Any, Any]:
    """The arguments with tensors that print as symbols, called by the names of the arguments."""
    called = {id(x): name for name, value in names.items() for x in leaves(value)}
    called |= {id(x): name for name, value in kwargs.items() for x in leaves(value)}
    declared = {} if signature is None else {id(x): s for x, s in zip(leaves(args), leaves(signature))}
    made = []
    for x in leaves((args, kwargs)):
        if isinstance(x, Tensor):
            made.append(EagerTensor(x._value))
            made[-1].symbol = called.get(id(x), "args")
            if isinstance(declared.get(id(x)), TensorSpec):
                made[-1].symbol_shape = declared[id(x)].shape
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

    >>> from gradtape_standins import tensorflow as tf
    >>> @tf.function
    ... def square(x):
    ...     print("tracing", x)
    ...     return x * x
    >>> square(tf.constant(2.0)).numpy(), square(tf.constant(3.0)).numpy()
    tracing Tensor("x:0", shape=(), dtype=float32)
    (np.float32(4.0), np.float32(9.0))
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature, jit_compile=jit_compile)
    return Function(func, input_signature, jit_compile)


def py_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """`func` called with tensors; gradients go through it."""
    note_effect("tf.py_function")
    token = mode.set("eager")
    try:
        result = func(*(wrap(value_of(x)) for x in inp))
    finally:
        mode.reset(token)
    return _typed(result, Tout, value_of)


def numpy_function(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """`func` called with arrays; no gradient goes through it."""
    note_effect("tf.numpy_function")
    given = [leave_tape(wrap(value_of(x))._value, "tf.numpy_function") for x in inp]
    result = func(*(x[()] if x.ndim == 0 else x.copy() for x in given))
    return _typed(result, Tout, value_of)


def _typed(result: Any, dtype: Any, convert: Callable[..., Any]) -> Any:
    if isinstance(dtype, list | tuple):
        return [wrap(convert(part, kind)) for part, kind in zip(result, dtype, strict=True)]
    return None if result is None else wrap(convert(result, dtype))

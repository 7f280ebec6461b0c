"""GradientTape and its relatives, by TensorFlow's conventions, over gradtape's own tapes."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import gradtape as gt
from gradtape.extend import Location, TapeType, definition_of, leaves, map_structure, messages, rebuild
from gradtape_standins.tensorflow.conversion import Holder, value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape_standins.tensorflow.execution_context import graph_tape
from gradtape_standins.tensorflow.logger import warn_first_times
from gradtape_standins.tensorflow.slices import Gathered, IndexedSlices, notebooks, sliced_sources, slices_of
from gradtape_standins.tensorflow.tensor import wrap
from gradtape_standins.tensorflow.variable import variable_of


class UnconnectedGradients(enum.Enum):
    """What a gradient is where there is no path: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


def wrapped(value: Any) -> Any:
    """A gradient of gradtape's, or None, as TensorFlow's users know it."""
    return value if value is None or isinstance(value, IndexedSlices) else wrap(value)


class GradientTape(metaclass=TapeType):
    """`tf.GradientTape`: records what is computed inside its `with` block, and differentiates it.

    >>> from gradtape_standins import tensorflow as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x**2
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>

    `why(target, source)`, `report(path)` and the rest of gradtape's tape are there too.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._tape = gt.GradientTape(persistent, watch_accessed_variables)
        self._gathered: list[Gathered] = []
        self._is_new = True

    def __enter__(self) -> GradientTape:
        self._is_new = False
        try:
            self._tape.__enter__()
        except gt.TapeError as error:
            raise ValueError(str(error).replace("gt.GradientTape()", "tf.GradientTape()")) from None
        notebooks.set((*notebooks.get(), self._gathered))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        notebooks.set(tuple(one for one in notebooks.get() if one is not self._gathered))
        self._tape.__exit__(kind, error, tb)

    def watch(self, tensor: Any) -> None:
        """Record what is computed from `tensor`: a tensor or variable, or a structure of them."""
        for one in leaves(tensor):
            if not isinstance(one, Holder):
                raise ValueError(
                    explained(
                        f"Passed in object {type(one).__name__} of type {type(one).__name__!r}, not tf.Tensor or "
                        "tf.Variable or ExtensionType",
                        "x = tf.constant(...) first, then tape.watch(x)",
                    )
                )
            if one._value.dtype.kind in "fc":
                self._tape.watch(one._value)
            else:
                _complain("watched", one)

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str | None = None,
    ) -> Any:
        """The gradient of `target` (of its sum, if it has several elements) with respect to each of `sources`."""
        target = map_structure(_held, target)
        targets = [one for one in leaves(target) if _takes_part("target", one)]
        seeds = None
        if output_gradients is not None:
            seeds = [value_of(seed) for seed in leaves(output_gradients)]
            if len(targets) == len(leaves(target)) and len(seeds) != len(targets):
                raise ValueError(
                    explained(
                        f"{len(targets)} targets and {len(seeds)} output_gradients; one for each target is wanted",
                        "give output_gradients the structure of target",
                    )
                )
        asked = [one for one in leaves(sources) if _takes_part("source", one)]
        unconnected = _choice(unconnected_gradients)
        found: list[Any] = []
        if asked and targets:
            found = self._gradients([one._value for one in targets], [one._value for one in asked], seeds, unconnected)
        return self._answers(sources, asked, found, unconnected)

    def _gradients(self, targets: list[Any], sources: list[Any], seeds: Any, unconnected: str | None) -> list[Any]:
        """The gradient of each source; as slices where it comes through gathers of rows only."""
        sliced = sliced_sources(targets, sources, self._gathered) if self._gathered else {}
        ends = [one.result for through in sliced.values() for one in through]
        answer = self._ask(self._tape.gradient, targets, sources + ends, seeds, unconnected_gradients=unconnected)
        found, arrived = list(answer[: len(sources)]), iter(answer[len(sources) :])
        for number, through in sliced.items():
            gradients = [next(arrived) for _ in through]
            if found[number] is not None and all(g is not None for g in gradients):
                found[number] = slices_of(sources[number], through, gradients)
        return found

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str | None = None,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of one target with respect to each source: shape `target.shape + source.shape`."""
        target = _held(target)
        asked = [one for one in leaves(sources) if _takes_part("source", one)]
        unconnected = _choice(unconnected_gradients)
        found = []
        if asked and _takes_part("target", target):
            values = [one._value for one in asked]
            found = list(self._ask(self._tape.jacobian, value_of(target), values, unconnected_gradients=unconnected))
        return self._answers(sources, asked, found, unconnected)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str | None = None,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each example of a batch; the examples must not depend on each other."""
        unconnected = _choice(unconnected_gradients)
        self._check_entered()
        for one in (target, source):
            if len(value_of(one).shape) < 2:
                raise ValueError(
                    explained(
                        f"Shape {value_of(one).shape} must have rank at least 2: examples, and what each consists of",
                        "tape.jacobian for a single example",
                    )
                )
        return wrapped(
            self._ask(self._tape.batch_jacobian, value_of(target), value_of(source), unconnected_gradients=unconnected)
        )

    @in_tensorflow_terms
    def _ask(self, question: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._check_entered()
        return question(*args, **kwargs)

    def _check_entered(self) -> None:
        if self._is_new:
            raise RuntimeError(
                explained("this GradientTape has recorded nothing: its block was never entered", "with tape: ...")
            )

    def _answers(self, sources: Any, asked: list[Any], found: list[Any], unconnected: str | None) -> Any:
        """In the structure of `sources`, what was found for those that were asked for; None for the others."""
        supply = {id(one): answer for one, answer in zip(asked, found)}
        answers = []
        for one in leaves(sources):
            answer = supply.get(id(one))
            if answer is None and unconnected == "zero":
                answer = gt.zeros_like(one._value)
            answers.append(wrapped(answer))
        return rebuild(sources, answers)

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were watched, in the order they were met."""
        return tuple(variable_of(cell) for cell in self._tape.watched_variables())

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """What is computed in this block is not recorded on this tape."""
        with self._tape.stop_recording():
            yield

    def reset(self) -> None:
        """Forget everything recorded so far."""
        self._gathered.clear()
        self._tape.reset()

    def why(self, target: Any, source: Any) -> Any:
        """gradtape's explanation of why the gradient is what it is."""
        return self._tape.why(value_of(target), value_of(source))

    def report(self, path: Any, target: Any = None, sources: Any = None) -> Any:
        """gradtape's page that shows the gradient."""
        return self._tape.report(path, *(map_structure(_unwrapped, part) for part in (target, sources)))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'GradientTape' object has no attribute {name!r}")


def _unwrapped(x: Any) -> Any:
    return x._value if isinstance(x, Holder) else x


def _choice(unconnected: Any) -> str | None:
    """gradtape's word for what to answer where there is no path; None if the caller has not chosen."""
    if unconnected is None:
        return None
    try:
        return str(UnconnectedGradients(unconnected).value)
    except ValueError:
        raise ValueError(
            explained(
                f"Unknown value for unconnected_gradients: '{unconnected}'",
                "tf.UnconnectedGradients.NONE or tf.UnconnectedGradients.ZERO",
            )
        ) from None


def _held(one: Any) -> Any:
    """A target as a tensor of the stand-in: gradtape's own functions give gradtape's tensors."""
    return wrap(one) if isinstance(one, gt.Tensor) else one


def _takes_part(role: str, one: Any) -> bool:
    """Whether `one` can have a gradient; a tensor of integers cannot, and is complained of as TensorFlow does."""
    if not isinstance(one, Holder):
        if one is None:
            raise TypeError(explained(f"a {role} is None; a tensor or variable is wanted"))
        raise AttributeError(
            explained(
                f"{type(one).__name__!r} object has no attribute '_id': a {role} is a {type(one).__name__}; a tensor "
                "or variable is wanted",
                "the tensors themselves, not their numbers: no .numpy() and no float()",
            )
        )
    if one._value.dtype.kind in "fc":
        return True
    _complain(role, one)
    return False


def _complain(role: str, one: Any) -> None:
    dtype = one.dtype
    text = f"The dtype of the {role} tensor must be floating (e.g. tf.float32)"
    if role != "watched":
        text += " when calling GradientTape.gradient"
    warn_first_times(f"{text}, got {dtype!r}")


class ForwardAccumulator:
    """`tf.autodiff.ForwardAccumulator`: directional derivatives of what is computed inside the `with` block.

    >>> from gradtape_standins import tensorflow as tf
    >>> x = tf.constant([1.0, 2.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as accumulator:
    ...     y = tf.reduce_sum(x**3)
    >>> accumulator.jvp(y)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        seeds = [value_of(tangent) for tangent in leaves(tangents)]
        values = [value_of(primal) for primal in leaves(primals)]
        if len(seeds) != len(values):
            raise ValueError(explained(f"{len(values)} primals and {len(seeds)} tangents; one for each is wanted"))
        self._accumulator = gt.ForwardAccumulator(values, seeds)

    def __enter__(self) -> ForwardAccumulator:
        self._accumulator.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._accumulator.__exit__(kind, error, tb)

    def jvp(self, primals: Any, unconnected_gradients: UnconnectedGradients | str | None = None) -> Any:
        """The directional derivative of `primals`; None (or zeros) where they do not depend on the inputs."""
        unconnected = _choice(unconnected_gradients) or "none"
        return map_structure(lambda x: wrapped(self._accumulator.jvp(value_of(x), unconnected)), primals)


@in_tensorflow_terms
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same value, through which no gradient passes.

    >>> from gradtape_standins import tensorflow as tf
    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(2.0)
    """
    return wrap(gt.stop_gradient(value_of(input)))


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """A function that returns its value and the function that computes its gradient.

    `f(*args)` returns (value, grad); `grad(*upstream)` returns a gradient for each argument. Where `f` reads variables,
    `grad(*upstream, variables=[...])` returns (gradients of the arguments, gradients of the variables).

    >>> from gradtape_standins import tensorflow as tf
    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return tf.identity(x), lambda upstream: tf.clip_by_norm(upstream, 0.5)
    >>> v = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = clipped(v * v)
    >>> tape.gradient(y, v).numpy()
    np.float32(2.0)
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return _with_rule(f, args, kwargs)

    return decorated


def _with_rule(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The value of `f`, recorded as one operation whose rule is the function that `f` returned beside it."""
    name = getattr(f, "__name__", "the function")
    with gt.GradientTape() as watcher:  # tells which variables are read
        answer = f(*args, **kwargs)
    if not isinstance(answer, tuple) or len(answer) != 2 or not callable(answer[1]):
        raise ValueError(
            explained(f"custom_gradient: {name} must return (value, grad), the second a function", "return y, grad")
        )
    result, grad = answer
    arguments = leaves(args)
    given = [x for x in [*arguments, *leaves(kwargs)] if isinstance(x, Holder)]
    variables = [variable_of(cell) for cell in watcher.watched_variables()]
    variables = [v for v in variables if not any(v is x for x in given)]
    takes_variables = variables and _accepts_variables(grad)
    if variables and not takes_variables:
        raise TypeError(
            explained(
                f"custom_gradient: {name} reads variables, so grad must accept a 'variables' keyword argument",
                "def grad(*upstream, variables=None): ... return gradients, variable_gradients",
            )
        )
    inputs = [x for x in arguments if isinstance(x, Holder)]

    called = Location.here()

    @functools.wraps(grad)  # so that it is the user's function which is named if it is wrong
    def rule(*upstream: Any) -> list[Any]:
        cotangents = [wrap(u) for u in upstream]
        if takes_variables:
            for_arguments, for_variables = grad(*cotangents, variables=variables)
            for_variables = leaves(for_variables)
        else:
            for_arguments, for_variables = grad(*cotangents), []
        flat = leaves(for_arguments)
        if len(flat) != len(arguments) or len(for_variables) != len(variables):
            raise messages.broken_rule(
                f"custom_gradient: the grad of {name} returned {len(flat)} gradients for {len(arguments)} arguments"
                + (f" and {len(for_variables)} for {len(variables)} variables" if variables else ""),
                definition_of(grad),
                called,
                "return one gradient for each argument, None where it is zero"
                + (", and a list with one for each variable" if variables else ""),
            )
        kept = [g for x, g in zip(arguments, flat) if isinstance(x, Holder)]
        return [
            None if g is None else value_of(g, x.dtype) for g, x in zip([*kept, *for_variables], inputs + variables)
        ]

    outputs = [gt.stop_gradient(value_of(x)) for x in leaves(result)]
    if not inputs and not variables:
        return rebuild(result, [wrap(out) for out in outputs])

    def recorded(*values: Any) -> Any:
        return tuple(outputs), rule

    recorded.__name__ = name
    made = gt.custom_gradient(recorded)(*(x._value for x in inputs + variables))
    return rebuild(result, [wrap(out) for out in made])


def _accepts_variables(grad: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad).parameters
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, of whose run only the arguments are kept: the walk back runs it again to get the rest.

    >>> from gradtape_standins import tensorflow as tf
    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.recompute_grad(lambda v: tf.sin(v) * v)(x)
    >>> tape.gradient(y, x).shape
    TensorShape([])
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        flat = leaves((args, kwargs))
        held = [isinstance(x, Holder) for x in flat]

        @gt.checkpoint
        def run(*values: Any) -> Any:
            supply = iter(values)
            again = [wrap(next(supply)) if holds else x for x, holds in zip(flat, held)]
            again_args, again_kwargs = rebuild((args, kwargs), again)
            return map_structure(value_of, f(*again_args, **again_kwargs))

        return map_structure(wrap, run(*(x._value for x in flat if isinstance(x, Holder))))

    return decorated


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, whose gradient is that of its argument unchanged: the straight-through estimator.

    >>> from gradtape_standins import tensorflow as tf
    >>> x = tf.Variable(1.6)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.grad_pass_through(tf.round)(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)
    """

    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs), lambda *upstream: upstream[0] if len(upstream) == 1 else upstream

    return passing  # type: ignore[no-any-return]


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Any]:
    """The gradients of the sum of `ys`, one for each of `xs`; inside of a `tf.function` only, as in TensorFlow.

    >>> from gradtape_standins import tensorflow as tf
    >>> @tf.function
    ... def slope(x):
    ...     return tf.gradients(x**3, x)
    >>> slope(tf.constant(2.0))
    [<tf.Tensor: shape=(), dtype=float32, numpy=12.0>]
    """
    if stop_gradients is not None:
        raise NotImplementedError(explained("tf.gradients: stop_gradients is not in this stand-in", "tf.stop_gradient"))
    return _of_function("gradients").gradient(ys, leaves(xs), grad_ys, unconnected_gradients)  # type: ignore[no-any-return]


def hessians(ys: Any, xs: Any, *others: Any, **more: Any) -> list[Any]:
    """The second derivatives of the sum of `ys`, one array for each of `xs`; inside of a `tf.function` only."""
    tape = _of_function("hessians")
    return [tape.jacobian(first, x) for first, x in zip(tape.gradient(ys, leaves(xs)), leaves(xs))]


def _of_function(what: str) -> GradientTape:
    """What the `tf.function` that is running has recorded so far."""
    recorded = graph_tape.get()
    if recorded is None:
        raise RuntimeError(
            explained(
                f"tf.{what} is not supported when eager execution is enabled. Use tf.GradientTape instead",
                "with tf.GradientTape() as tape: ...; tape.gradient(ys, xs)",
            )
        )
    tape = GradientTape(persistent=True)
    tape._tape, tape._is_new = recorded, False
    return tape

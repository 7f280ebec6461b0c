"""What is replaced in JAX while it is watched: the functions that take gradients, `jax.jit`, and how primitives run.

The function that `jax.grad` is given is called once, by JAX itself, as without us. It is wrapped, so that the tracers
that it is called with are known; the operations on them are recorded where JAX executes them.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax._src import pjit
from jax.tree_util import tree_leaves

from gradtape.core.location import Location
from gradtape.watching.jax.calls import GradientCall, JitCall, gradients_of, opened_by, user_function
from gradtape.watching.jax.captured_values import CapturedValues
from gradtape.watching.jax.loops import spoiled_constant
from gradtape.watching.jax.operations import Operation, kind_of
from gradtape.watching.jax.optimisers import observed_update
from gradtape.watching.jax.programs import program_for
from gradtape.watching.jax.recorder import CustomCall, Program, Session, local
from gradtape.watching.jax.replay import replay_of
from gradtape.watching.jax.updates import judge_updates
from gradtape.watching.jax.values import IndexParams, Tracer, is_concrete, shape_of, trace_key
from gradtape.watching.record import CONSTANT

GRADIENTS = ("grad", "value_and_grad")


JACOBIANS = ("jacrev", "jacfwd", "jacobian", "hessian")


COMPOSITES = (("jax.nn", "softmax"), ("jax.nn", "logsumexp"), ("jax.scipy.special", "logsumexp"), ("jax.nn", "gelu"))


class Hooks:
    """Puts our functions in the place of JAX's, and JAX's back."""

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self._applies = False
        self._replaced: list[tuple[Any, str, Any]] = []
        self._observed: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self.jitted: weakref.WeakSet[Jitted] = weakref.WeakSet()

    # -- installing

    def install(self) -> None:
        """Replace what is watched."""
        for name in GRADIENTS:
            self._replace(jax, name, self._gradient_maker(name, getattr(jax, name)))
        for name in JACOBIANS:
            if hasattr(jax, name):
                self._replace(jax, name, self._gradient_maker(name, getattr(jax, name)))
        self._replace(jax, "vjp", self._vjp(jax.vjp))
        self._replace(jax, "jit", self._jit(jax.jit))
        for module_name, name in COMPOSITES:
            module = functools.reduce(getattr, module_name.split(".")[1:], jax)
            original = getattr(module, name)
            ours = self._composite(name, original)
            self._replace(module, name, ours)
            for other in _modules_with(name, original):
                self._replace(other, name, ours)
        self._replace(Tracer, "__getitem__", self._getitem(Tracer.__getitem__))
        for name in ("item", "tolist"):
            if name in Tracer.__dict__:
                self._replace(Tracer, name, self._departure(name, Tracer.__dict__[name]))
        for kind in (jax.custom_vjp, jax.custom_jvp):
            self._replace(kind, "__call__", self._custom(kind.__call__))
        for kind in primitive_kinds():
            self._replace(kind, "bind_with_trace", self._bind(kind.__dict__["bind_with_trace"]))
        for kind in kinds_without_trace():
            self._replace(kind, "bind", self._bind_of_custom(kind.__dict__["bind"]))
        if hasattr(pjit, "_run_python_pjit"):
            self._replace(pjit, "_run_python_pjit", self._first_execution(pjit._run_python_pjit))

    def remove(self) -> None:
        """Put JAX's own functions back."""
        for owner, name, original in reversed(self._replaced):
            setattr(owner, name, original)
        self._replaced.clear()

    def original(self, name: str) -> Any:
        """A function of JAX's that was replaced, as it was."""
        return next((held for owner, known, held in self._replaced if owner is jax and known == name), None)

    def _replace(self, owner: Any, name: str, ours: Any) -> None:
        self._replaced.append((owner, name, owner.__dict__[name]))
        setattr(owner, name, ours)

    # -- primitives

    def _bind(self, original: Any) -> Any:
        watcher = self.watcher

        @functools.wraps(original)
        def bind_with_trace(primitive: Any, trace: Any, args: Any, *rest: Any) -> Any:
            session = local.sessions.get(trace_key(trace)) if local.sessions else None
            if session is None:
                result = original(primitive, trace, args, *rest)
            else:
                local.depth += 1  # the operations that an operation on tracers consists of are a part of it
                session.depth += 1
                try:
                    result = original(primitive, trace, args, *rest)
                finally:
                    local.depth -= 1
                    session.depth -= 1
            if session is not None:
                if not (session.muted or session.depth or local.is_judging):
                    with watcher.guarded():
                        results = result if isinstance(result, list | tuple) else [result]
                        session.record(primitive, args, rest[-1], results)
            elif local.order and not local.depth and not local.is_judging and watcher.is_working:
                with watcher.guarded():
                    _look_at_constants(primitive, args, rest[-1], result)
            return result

        return bind_with_trace

    def _bind_of_custom(self, original: Any) -> Any:
        """How older versions of JAX execute a function with a rule of its own: they find the trace themselves."""
        watcher = self.watcher

        @functools.wraps(original)
        def bind(primitive: Any, *args: Any, **params: Any) -> Any:
            traces = [x._trace for x in args if isinstance(x, Tracer)] if local.sessions else []
            top = max(traces, key=lambda trace: trace.level, default=None)
            session = None if top is None else local.sessions.get(trace_key(top))
            if session is None or session.muted or local.is_judging:
                return original(primitive, *args, **params)
            local.depth += 1
            try:
                result = original(primitive, *args, **params)
            finally:
                local.depth -= 1
            with watcher.guarded():
                operands = [x for x in args if hasattr(x, "shape") or is_concrete(x)]
                session.record(primitive, operands, params, list(result))
            return result

        return bind

    def _first_execution(self, original: Any) -> Any:
        """How newer versions of JAX execute a compiled function of concrete arrays for the first time."""
        watcher = self.watcher

        @functools.wraps(original)
        def run(traced: Any, operands: Any, *rest: Any) -> Any:
            outcome = original(traced, operands, *rest)
            if local.order and not local.depth and not local.is_judging and watcher.is_working:
                with watcher.guarded():
                    _look_at_constants(pjit.jit_p, operands, traced.params, outcome[1])
            return outcome

        return run

    def _custom(self, original: Any) -> Any:
        @functools.wraps(original)
        def __call__(custom: Any, *args: Any, **kwargs: Any) -> Any:
            if not local.sessions:
                return original(custom, *args, **kwargs)
            local.customs.append(CustomCall(custom, args, kwargs))
            try:
                return original(custom, *args, **kwargs)
            finally:
                local.customs.pop()

        return __call__

    def _composite(self, name: str, original: Any) -> Any:
        """A function of JAX's that consists of many operations, recorded as one."""
        watcher = self.watcher

        @functools.wraps(original)
        def composite(x: Any, *args: Any, **kwargs: Any) -> Any:
            session = local.sessions.get(trace_key(x._trace)) if isinstance(x, Tracer) and local.sessions else None
            if session is None or session.muted or any(isinstance(a, Tracer) for a in (*args, *kwargs.values())):
                return original(x, *args, **kwargs)
            session.muted += 1
            try:
                result = original(x, *args, **kwargs)
            finally:
                session.muted -= 1
            with watcher.guarded():
                axis = args[0] if args else kwargs.get("axis", -1 if name == "softmax" else None)
                axes = axis if isinstance(axis, tuple) or axis is None else (axis,)
                keeps = name == "softmax" or shape_of(result) == shape_of(x) or bool(kwargs.get("keepdims"))
                params = {} if name == "gelu" else {"axis": axes, "keepdims": keeps}
                kind = "elementwise" if name == "gelu" else kind_of(name)

                def call(given: Any) -> Any:
                    return original(given, *args, **kwargs)

                if isinstance(session, Program):
                    session.add_step(lambda values: [call(values[0])], [x], [result])
                session.add(Operation(name, kind, params), [x], [result], replay_of(call, False))
            return result

        return composite

    def _getitem(self, original: Any) -> Any:
        """`x[index]`, which JAX executes as several operations, recorded as one."""
        watcher = self.watcher

        @functools.wraps(original)
        def __getitem__(x: Any, index: Any) -> Any:
            session = local.sessions.get(trace_key(x._trace)) if local.sessions else None
            if session is None or session.muted or local.is_judging:
                return original(x, index)
            session.muted += 1
            try:
                result = original(x, index)
            finally:
                session.muted -= 1
            with watcher.guarded():
                record_index(session, x, index, result)
            return result

        return __getitem__

    def _departure(self, name: str, original: Any) -> Any:
        """`x.item()`: the value leaves the traced function as a number, which is a constant from there on."""
        watcher = self.watcher

        def depart(x: Any, *args: Any) -> Any:
            bound = original.__get__(x, type(x))
            value = bound(*args)
            session = local.sessions.get(trace_key(x._trace)) if local.sessions else None
            record = None if session is None else session.find(x)
            if session is not None and record is not None and record.is_tracked:
                with watcher.guarded():
                    session.add_cut(Operation(f".{name}()", "constant", {}), [record], [], [x.primal], Location.here())
            return value

        return property(lambda x: functools.partial(depart, x)) if isinstance(original, property) else depart

    # -- updates

    def observe_updates(self, package: str) -> None:
        """Watch the function of optax or equinox that applies updates, and the optimisers that make them."""
        module = sys.modules[package]
        kind = getattr(module, "GradientTransformation", None)
        if kind is not None and "update" in kind.__dict__:
            self._replace(
                kind, "update", observed_update(self.watcher, self.watcher.optimisers, kind.__dict__["update"])
            )
        original = getattr(module, "apply_updates", None)
        if original is None:
            return
        watcher = self.watcher

        @functools.wraps(original)
        def apply_updates(params: Any, updates: Any, *rest: Any, **named: Any) -> Any:
            if local.gradients and watcher.is_working and not local.is_judging:
                with watcher.guarded():
                    watcher.updates.applied = Location.here()
                    judge_updates(params, updates, local.gradients, local.updates)
            local.gradients, local.updates = (), ((), ())
            return original(params, updates, *rest, **named)

        self._replace(module, "apply_updates", apply_updates)
        self._applies = True

    # -- gradients

    def _gradient_maker(self, name: str, original: Any) -> Any:
        hooks = self

        @functools.wraps(original)
        def maker(fun: Any, *options: Any, **named: Any) -> Any:
            observed = hooks.observed(fun)
            plain = original(observed, *options, **named)
            argnums = options[0] if options else named.get("argnums", 0)
            has_aux = options[1] if len(options) > 1 else named.get("has_aux", False)
            if observed is fun:
                return plain

            @functools.wraps(plain)
            def taking(*args: Any, **kwargs: Any) -> Any:
                if not hooks.watcher.is_working or local.is_judging:
                    return plain(*args, **kwargs)
                call = GradientCall(fun, argnums, bool(has_aux), name == "value_and_grad", name in JACOBIANS)
                if not hooks.watcher.is_due(call):
                    result = plain(*args, **kwargs)
                    hooks.watcher.look_at(call, result)
                    return result
                with hooks.calling(call):
                    result = plain(*args, **kwargs)
                with hooks.watcher.guarded(is_whole=True):
                    call.result, call.arguments = result, args
                    local.gradients = gradients_of(call) if hooks._applies else ()
                    hooks.watcher.finish_gradient(call)
                return result

            return taking

        return maker

    def _vjp(self, original: Any) -> Any:
        hooks = self

        @functools.wraps(original)
        def vjp(fun: Any, *primals: Any, **named: Any) -> Any:
            if not hooks.watcher.is_working or local.is_judging or not callable(fun):
                return original(fun, *primals, **named)
            call = GradientCall(fun, tuple(range(len(primals))), bool(named.get("has_aux", False)), True, True)
            if not hooks.watcher.is_due(call):
                return original(fun, *primals, **named)
            observed = hooks.observed(fun)
            with hooks.calling(call):
                result = original(observed, *primals, **named)
            with hooks.watcher.guarded(is_whole=True):
                hooks.watcher.finish_function(call)
            return result

        return vjp

    @contextmanager
    def calling(self, call: Any) -> Iterator[None]:
        """Inside, the observed function that JAX calls next belongs to `call`."""
        local.calls.append(call)
        try:
            yield
        except Exception as error:
            self.watcher.note_failure(error, call)
            raise
        finally:
            local.calls.remove(call)

    def observed(self, fun: Any) -> Any:
        """`fun`, wrapped so that the tracers that it is called with are recorded; `fun` itself if it is JAX's own."""
        is_own = (getattr(fun, "__module__", None) or "").partition(".")[0] in ("jax", "jaxlib")
        if not callable(fun) or (is_own and not isinstance(fun, Jitted)):
            return fun
        try:
            known = self._observed.get(fun)
        except TypeError:  # not hashable, or without weak references
            return ObservedFunction(self.watcher, lambda: fun)
        if known is None:
            self._observed[fun] = known = ObservedFunction(self.watcher, weakref.ref(fun))
        return known

    # -- jit

    def _jit(self, original: Any) -> Any:
        hooks = self

        @functools.wraps(original)
        def jit(*args: Any, **named: Any) -> Any:
            fun = args[0] if args else named.get("fun")
            if not callable(fun):
                made = original(*args, **named)
                if fun is None and callable(made):  # jax.jit(static_argnums=0) waits for the function
                    return lambda function: jit(function, **named)
                return made
            observed = hooks.observed(fun)
            if observed is fun:
                return original(*args, **named)
            rest = {key: value for key, value in named.items() if key != "fun"}
            compiled = original(observed, *args[1:], **rest)
            donates = any(rest.get(name) not in (None, ()) for name in ("donate_argnums", "donate_argnames"))
            made = Jitted(hooks, fun, compiled, donates)
            hooks.jitted.add(made)
            return made

        return jit


class ObservedFunction:
    """The function that JAX calls in the place of the user's, which records it if the present call is watched.

    It does not keep the user's function alive; what JAX returns for it does.
    """

    def __init__(self, watcher: Any, reference: Callable[[], Any]) -> None:
        self._watcher = watcher
        self._reference = reference
        function = reference()
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(function, name):
                setattr(self, name, getattr(function, name))
        if not hasattr(function, "__name__"):
            self.__name__ = type(function).__name__

    @property
    def __wrapped__(self) -> Any:
        return self._reference()

    def __repr__(self) -> str:
        return repr(self._reference())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; while it runs, the operations on the tracers in its arguments are recorded."""
        watcher, function = self._watcher, self._reference()
        call = local.calls[-1] if local.calls else None
        if call is None or local.is_judging or not watcher.is_working:
            return function(*args, **kwargs)
        if isinstance(call, JitCall) and call.proxy.function is function:
            with watcher.guarded():
                call.proxy.outside = CapturedValues(user_function(function))
        session: Session | None = None
        with watcher.guarded():
            if isinstance(call, GradientCall) and call.function is function and call.session is None:
                session = call.session = opened_by(call, function, args)
            elif isinstance(call, JitCall) and call.proxy.function is function and call.program is None:
                session = call.program = program_for(call, function, args, kwargs)
        if session is None:
            return function(*args, **kwargs)
        local.calls.append(None)  # what the function itself calls is not this call
        try:
            with session.recording():
                result = function(*args, **kwargs)
        finally:
            local.calls.pop()
        with watcher.guarded():
            if isinstance(call, GradientCall):
                call.target = result[0] if call.has_aux and isinstance(result, tuple) else result
                call.target_record = session.find(call.target) or CONSTANT
            elif isinstance(session, Program):
                session.close(tree_leaves(result))
                local.gradients, local.updates = (), ((), ())
                call.proxy.programs[call.proxy.key_of(call.leaves)] = session
        return result


def record_index(session: Session, x: Any, index: Any, result: Any) -> None:
    """Record that `result` is `x[index]`."""
    parts = list(index) if isinstance(index, tuple) else [index]
    arrays = [place for place, part in enumerate(parts) if hasattr(part, "dtype") or isinstance(part, list)]
    dynamic = [parts[place] if hasattr(parts[place], "dtype") else np.asarray(parts[place]) for place in arrays]

    def call(given: Any, *indices: Any) -> Any:
        filled = dict(zip(arrays, indices))
        return given[tuple(filled.get(place, part) for place, part in enumerate(parts))]

    if isinstance(session, Program):
        session.add_step(
            lambda values: [np.asarray(jax.numpy.asarray(call(jax.numpy.asarray(values[0]), *values[1:])))],
            [x, *dynamic],
            [result],
        )
    params = IndexParams(parts, {place: session.kept_of(part) for place, part in zip(arrays, dynamic)})
    session.add(Operation("getitem", "linear", params), [x, *dynamic], [result], replay_of(call, False))


def _look_at_constants(primitive: Any, args: Any, params: Any, result: Any) -> None:
    """Keep an operation on concrete arrays that made a NaN, while a function is traced: it may be given to that."""
    results = result if isinstance(result, list | tuple) else [result]
    session = local.order[-1]
    if session.muted or session.spoiled or not all(map(_is_array, results)) or not all(map(is_concrete, args)):
        return
    found = spoiled_constant(primitive, params, args, results)
    if found is not None:
        session.spoiled.append(found)


def _is_array(value: Any) -> bool:
    return isinstance(value, jax.Array) and not isinstance(value, Tracer)


def _modules_with(name: str, original: Any) -> list[Any]:
    """The modules of packages built on JAX that hand on a function of its: `flax.linen.softmax`."""
    roots = ("flax", "equinox", "optax", "haiku")
    held = [module for key, module in [*sys.modules.items()] if key.partition(".")[0] in roots]
    return [module for module in held if getattr(module, "__dict__", {}).get(name) is original]


def primitive_kinds() -> list[type]:
    """The classes of primitives that say how they are executed."""
    base = jax.extend.core.Primitive if hasattr(jax, "extend") else type(jax.lax.sin_p)
    pending, found = [base], []
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if "bind_with_trace" in kind.__dict__:
            found.append(kind)
    return found


def kinds_without_trace() -> list[type]:
    """The classes of primitives for functions with rules that find their trace themselves, in older versions of JAX."""
    from jax._src import custom_derivatives

    kinds = [getattr(custom_derivatives, f"Custom{kind}CallPrimitive", None) for kind in ("JVP", "VJP")]
    return [kind for kind in kinds if kind is not None and "bind" in kind.__dict__ and not _has_traces(kind)]


def _has_traces(kind: type) -> bool:
    return "bind_with_trace" in kind.__dict__


class Jitted:
    """A function under `jax.jit`, which is called as JAX's own object; all its attributes are that object's."""

    __slots__ = (
        *("__dict__", "__weakref__", "code", "compiled", "donates", "function", "hooks", "numbers", "outside", "place"),
        *("programs", "unread", "was_broken", "window"),
    )

    def __init__(self, hooks: Hooks, function: Any, compiled: Any, donates: bool) -> None:
        functools.update_wrapper(self, compiled)
        self.hooks = hooks
        self.function = function
        self.compiled = compiled
        self.donates = donates
        self.code = getattr(user_function(function), "__code__", function)
        self.place = id(self.code)
        self.programs: dict[Any, Program] = {}
        self.numbers: tuple[int, list[int]] = (-1, [])  # how many leaves it returned, and which were single numbers
        self.unread: list[tuple[JitCall, Any]] = []  # the latest calls, and what they returned
        self.window = 1  # how many of them are kept before they are looked at
        self.was_broken = False  # a call that returned a number which is not finite was judged
        self.outside: CapturedValues | None = None  # what the function read from outside when it was traced last

    def numbers_in(self, leaves: Sequence[Any]) -> list[Any]:
        """The single numbers of floating point among the leaves of what it returned."""
        if self.numbers[0] != len(leaves):
            places = [i for i, x in enumerate(leaves) if _is_array(x) and x.size == 1 and x.dtype.kind == "f"]
            self.numbers = len(leaves), places
        return [leaves[index] for index in self.numbers[1]]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled function."""
        watcher = self.hooks.watcher
        if not watcher.is_working or local.is_judging:
            return self.compiled(*args, **kwargs)
        call = JitCall(self, args, kwargs)
        is_due = watcher.is_due(call)
        before = watcher.arguments_before(call) if is_due else None
        if self.outside is not None and self.outside.is_watched and not local.order:
            with watcher.guarded():
                self.outside.judge()
        local.calls.append(call)
        try:
            result = self.compiled(*args, **kwargs)
        except Exception as error:
            watcher.note_failure(error, call)
            raise
        finally:
            local.calls.remove(call)
        if not is_due and call.program is None:
            watcher.look_at_program(call, result)
            return result
        with watcher.guarded(is_whole=True):
            if call.outer is None:
                watcher.budget.spend(call.place)
            if call.program is None:
                call.program = self.programs.get(self.key_of(call.leaves))
            if call.program is not None:
                watcher.finish_program(call, before, result)
        return result

    def key_of(self, leaves: Sequence[Any]) -> Any:
        """What a traced program is found by: shapes and dtypes of the arrays among the arguments, and all else."""
        return tuple(
            (shape_of(leaf), str(leaf.dtype)) if hasattr(leaf, "dtype") else (type(leaf).__name__,) for leaf in leaves
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return repr(self.compiled)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """`lower` of the compiled function."""
        return self.compiled.lower(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """`trace` of the compiled function."""
        return self.compiled.trace(*args, **kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """`eval_shape` of the compiled function."""
        return self.compiled.eval_shape(*args, **kwargs)

    def clear_cache(self) -> None:
        """`clear_cache` of the compiled function."""
        self.programs.clear()
        self.compiled.clear_cache()


__all__ = ["Hooks", "Jitted"]

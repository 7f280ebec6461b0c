"""Errors of JAX about values that are not there while a function is traced: `float(x)`, `if x > 0`, NumPy, masks."""

from __future__ import annotations

import ast
import builtins
import re
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp

from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span, source_edit
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line, source_of
from gradtape.watching.jax.failures import Failure, asked_span, behind, call_at, called_name, name_of_jax_numpy

# -- a value that is not there while a function is traced


def explain_conversion(failure: Failure, failed: Any) -> Problem | None:
    """A tracer where Python wants a number: `float(x)`, `if x > 0`, a function of NumPy, an index, a length."""
    error, words, site = failure.error, failure.words, failure.site
    kind = type(error).__name__
    if not isinstance(error, jax.errors.JAXTypeError | jax.errors.JAXIndexError):
        return _numpy_write_problem(failure) if behind(error, jax.errors.JAXTypeError) is not None else None
    if kind == "UnexpectedTracerError":
        return _leak_problem(failure)
    if kind == "TracerBoolConversionError":
        return _branch_problem(failure)
    if kind == "NonConcreteBooleanIndexError":
        return _mask_problem(failure)
    if kind == "TracerArrayConversionError":
        return _numpy_problem(failure)
    why = "while JAX traces the function there is no number yet, only a shape"
    text = one_line(site.span.text)
    offered: list[str] = []
    call = call_at(site)
    name = called_name(site)
    if kind == "TracerIntegerConversionError" or "argument" in words.split("The error occurred")[0].partition("\n")[2]:
        offered = [
            "a length, a shape or a Python index has to be known: jax.jit(f, static_argnums=...) makes an argument one",
            "jax.lax.fori_loop and jax.lax.scan for a loop whose number of steps is computed",
        ]
    elif call is not None and name in ("float", "int", "bool", "complex") and len(call.args) == 1 and not call.keywords:
        inner = one_line(site.source.text(call.args[0]))
        if name == "float":
            offered = [source_edit(inner, site.span)]
        else:
            offered = [f"{inner} itself; {inner}.astype({name}) has that dtype, and no gradient"]
    elif call is not None and name in ("item", "tolist") and isinstance(call.func, ast.Attribute):
        offered = [source_edit(one_line(site.source.text(call.func.value)), site.span)]
    elif call is not None and hasattr(jnp, name):
        offered = _of_jax_numpy(failure, call, name)
    return problem(
        "GT210",
        f"{text if len(text) <= 50 else name or 'this'} wants a number, and is given a traced array",
        spans=[site.span, *asked_span(failure)],
        notes=[why],
        consequence="a number would be a constant, and the gradient through it lost: JAX refuses",
        fixes=offered or ["compute with the array itself, with functions of jax.numpy"],
    )


def _numpy_write_problem(failure: Failure) -> Problem | None:
    """`path[i] = x`, where `path` is an array of NumPy and `x` is traced."""
    site = failure.site
    statement = None if site.node is None else site.source.statement(site.node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Subscript) or statement is None:
        return None
    array = one_line(site.source.text(target.value))
    index = one_line(site.source.text(target.slice))
    value = one_line(site.source.text(statement.value))  # type: ignore[attr-defined]
    jnp_name = name_of_jax_numpy(site)
    spans = [site.source.span(statement)]
    made = site.binding(target.value) if isinstance(target.value, ast.Name) else None
    if made is not None:
        spans.append(made.labelled("an array of NumPy"))
    return problem(
        "GT210",
        f"a traced value is written into {array}, an array of NumPy, which holds numbers only",
        spans=[*spans, *asked_span(failure)],
        notes=["while JAX traces the function there is no number yet, only a shape"],
        consequence="a number would be a constant, and the gradient through it lost: JAX refuses",
        fixes=[
            f"{array} = {array}.at[{index}].set({value}), with {array} made by {jnp_name}.zeros",
            f"a list, and {jnp_name}.stack of it at the end",
        ],
    )


def _of_jax_numpy(failure: Failure, call: ast.Call, name: str) -> list[str]:
    """The same call of a function of `jax.numpy`, tried on the shapes of its arguments."""
    site = failure.site
    function = call.func
    wanted = f"{name_of_jax_numpy(site)}.{name}"
    span = site.source.span(function)
    given = [site.value(argument) for argument in call.args]
    structs = [jax.ShapeDtypeStruct(x.shape, x.dtype) if hasattr(x, "shape") else x for x in given]
    constants = {k.arg: k.value.value for k in call.keywords if k.arg and isinstance(k.value, ast.Constant)}
    try:
        arrays = [x for x in structs if isinstance(x, jax.ShapeDtypeStruct)]

        def again(*traced: Any) -> Any:
            fresh = iter(traced)
            filled = [next(fresh) if isinstance(x, jax.ShapeDtypeStruct) else x for x in structs]
            return getattr(jnp, name)(*filled, **constants)

        is_checked = bool(arrays) and len(constants) == len(call.keywords)
        if is_checked:
            jax.eval_shape(again, *arrays)
    except Exception:  # unknown arguments, or one that jax.numpy does not take
        is_checked = False
    return [Fix(wanted, True, span)] if is_checked else [f"{wanted} instead of {one_line(span.text)}"]


def _can_be_traced(site: UserExpression, text: str) -> bool:
    """Whether JAX can trace an expression, with arrays of the shapes that the names in it have here.

    What calls functions of the user's is not tried: they may do more than compute.
    """
    frame = site.frame
    if frame is None:
        return False
    tree = ast.parse(text, mode="eval")
    known = {**frame.f_globals, **frame.f_locals}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            root: ast.AST = node.func
            while isinstance(root, ast.Attribute):
                root = root.value
            value = known.get(root.id) if isinstance(root, ast.Name) else None
            module = getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", "")
            is_method = isinstance(value, jax.Array) and isinstance(node.func, ast.Attribute)
            is_builtin = value is None and isinstance(root, ast.Name) and hasattr(builtins, root.id)
            if not (is_method or is_builtin or str(module).partition(".")[0] in ("jax", "numpy", "math")):
                return False
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    arrays = {name: known[name] for name in names if isinstance(known.get(name), jax.Array)}
    structs = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in arrays.items()}
    code = compile(tree, "<fix>", "eval")
    try:
        jax.eval_shape(lambda traced: eval(code, {**known, **traced}), structs)
    except Exception:  # it cannot
        return False
    return True


def _numpy_problem(failure: Failure) -> Problem:
    site, call, name = failure.site, call_at(failure.site), called_name(failure.site)
    text = one_line(site.span.text)
    offered: list[str] = []
    if call is not None and isinstance(call.func, ast.Attribute) and hasattr(jnp, name):
        offered = _of_jax_numpy(failure, call, name)
    shown = text if len(text) <= 50 else f"{name or 'NumPy'}"
    return problem(
        "GT210",
        f"{shown}: a function of NumPy was given a traced array",
        spans=[site.span, *asked_span(failure)],
        notes=["NumPy wants the numbers; while JAX traces the function there are none yet, only a shape"],
        consequence="what NumPy returns would be a constant, and the gradient through it lost: JAX refuses",
        fixes=offered
        or ["the function of the same name in jax.numpy; jax.pure_callback for one that it does not have"],
    )


def _branch_problem(failure: Failure) -> Problem:
    site = failure.site
    source, node = site.source, site.node
    around: Any = node
    while around is not None and not isinstance(around, ast.If | ast.While | ast.IfExp | ast.Assert | ast.stmt):
        around = source.parents.get(around)
    jnp_name = name_of_jax_numpy(site)
    test = None if around is None else getattr(around, "test", None)
    condition = one_line(source.text(test)) if test is not None else one_line(site.span.text)
    offered: list[str] = []
    if isinstance(around, ast.IfExp) and isinstance(test, ast.expr):
        parts = [one_line(source.text(part)) for part in (test, around.body, around.orelse)]
        text = f"{jnp_name}.where({', '.join(parts)})"
        offered = [Fix(text, True, source.span(around)) if _can_be_traced(site, text) else text]
    elif isinstance(around, ast.If):
        offered = _where_for_if(site, around, jnp_name)
    if isinstance(around, ast.While):
        advice = "jax.lax.while_loop runs until a traced condition is false; jax.lax.scan for so many steps"
    elif isinstance(around, ast.Assert):
        advice = "check the numbers outside of the traced function, or jax.experimental.checkify"
    else:
        advice = f"{jnp_name}.where(condition, a, b) chooses each element; jax.lax.cond(condition, f, g, x) one branch"
    kind = type(around).__name__.lower() if isinstance(around, ast.If | ast.While | ast.Assert) else "if"
    if (flag := _static_advice(failure)) is not None:
        offered.append(flag)
    return problem(
        "GT210",
        f"{kind} {condition}: whether it is true is not known while JAX traces the function",
        spans=[site.span, *asked_span(failure)],
        consequence="Python would take one branch for all values to come: JAX refuses",
        fixes=[*offered, advice],
    )


def _static_advice(failure: Failure) -> str | None:
    """How the argument is made static that a condition is about, if it is a number of its own, such as a flag."""
    named = re.search(r"depends on the value of the argument (\w+)\.", failure.words)
    if named is None or re.search(r"shape \w+\[\d", failure.words):
        return None
    maker = "jax.checkpoint(f, static_argnums=...)" if "checkpoint" in failure.words else "jax.jit(f, static_argnames="
    call = maker if maker.endswith(")") else f'{maker}"{named[1]}")'
    return f"{call} takes {named[1]} as it is, if it is a flag or a setting"


def _where_for_if(site: UserExpression, branch: ast.If, jnp_name: str) -> list[str]:
    """`return jnp.where(c, a, b)` for `if c: return a` and `return b`; the same for two assignments to one name."""
    source = site.source
    holder = source.parents.get(branch)
    blocks: list[list[ast.stmt]] = [getattr(holder, name, None) or [] for name in ("body", "orelse")]
    body = next((block for block in blocks if branch in block), [])
    after = body[body.index(branch) + 1 :] if body else []
    other = branch.orelse or after[:1]
    if len(branch.body) != 1 or len(other) != 1:
        return []
    one, two = branch.body[0], other[0]
    condition = one_line(source.text(branch.test))
    values = [value for value in (getattr(one, "value", None), getattr(two, "value", None)) if value is not None]
    if len(values) != 2:
        return []
    texts = ", ".join(one_line(source.text(value)) for value in values)
    first, last = source.span(branch), source.span(two)
    lines = source.lines[first.line - 1 : last.end_line]
    whole = Span(first.file, first.line, first.column, last.end_column, "", "\n".join(lines), last.end_line)
    chosen = f"{jnp_name}.where({condition}, {texts})"
    text = ""
    if isinstance(one, ast.Return) and isinstance(two, ast.Return):
        text = f"return {chosen}"
    if branch.orelse and isinstance(one, ast.Assign) and isinstance(two, ast.Assign):
        names = [source.text(statement.targets[0]) for statement in (one, two)]
        if names[0] == names[1] and len(one.targets) == len(two.targets) == 1:
            text = f"{names[0]} = {chosen}"
    if not text:
        return []
    return [Fix(text, True, whole) if _can_be_traced(site, chosen) else text]


def _mask_problem(failure: Failure) -> Problem:
    site = failure.site
    node = site.node
    jnp_name = name_of_jax_numpy(site)
    offered: list[str] = [
        f"{jnp_name}.where(mask, x, 0.0) keeps the shape; {jnp_name}.sum(x, where=mask) and mean(x, where=mask) "
        "leave elements out"
    ]
    if isinstance(node, ast.Subscript):
        value, mask = (one_line(site.source.text(part)) for part in (node.value, node.slice))
        around = site.source.parents.get(node)
        outer = site.source.parents.get(around) if isinstance(around, ast.Attribute) else around
        if isinstance(outer, ast.Call):
            name = outer.func.attr if isinstance(outer.func, ast.Attribute) else getattr(outer.func, "id", "")
            if name in ("sum", "mean") and not outer.keywords:
                text = f"{jnp_name}.{name}({value}, where={mask})"
                offered.insert(0, Fix(text, _can_be_traced(site, text), site.source.span(outer)))
    return problem(
        "GT210",
        f"{one_line(site.span.text)}: how many elements a mask selects is not known while JAX traces the function",
        spans=[site.span, *asked_span(failure)],
        consequence="the shape of the result would depend on the numbers: JAX refuses",
        fixes=offered,
    )


def _leak_problem(failure: Failure) -> Problem:
    words, site = failure.words, failure.site
    made = re.search(r"created on line (.+?):(\d+):(\d+)", words)
    traced = re.search(r"when the value leaked was (\w+|<lambda>) at", words)
    spans = [site.span.labelled("used here")]
    if made:
        line = int(made[2])
        source = source_of(made[1])
        text = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
        stored = _keeping_statement(source, line) or _storing_statement(source, line)
        spans.insert(0, stored or Span(made[1], line, None, None, "made here, inside the traced function", text, line))
    name = traced[1] if traced else "the traced function"
    return problem(
        "GT211",
        f"a value of {name} was kept after JAX had traced it",
        spans=spans,
        notes=["while JAX traces a function its values are no numbers; outside of it they mean nothing"],
        fixes=[f"return it from {name}, and keep what the call returns; with has_aux=True beside a loss"],
    )


def _keeping_statement(source: Any, line: int) -> Span | None:
    """The statement that keeps what was made on a line under a name of the function: `losses.append(value)`."""
    made = next(
        (
            node
            for node in (ast.walk(source.tree) if source.tree is not None else ())
            if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or line)
        ),
        None,
    )
    name = made.targets[0].id if made is not None and isinstance(made.targets[0], ast.Name) else ""
    scope = None if made is None else next(iter(source.scopes(made)), None)
    for node in [] if scope is None or not name else ast.walk(scope):
        value: Any = None
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            is_kept = isinstance(function, ast.Attribute) and function.attr in ("append", "add", "extend", "insert")
            value = node.value.args[-1] if is_kept and node.value.args else None
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            value = node.value
        if isinstance(value, ast.Name) and value.id == name:
            span: Span = source.span(node, "kept here, inside the traced function")
            return span
    return None


def _storing_statement(source: Any, line: int) -> Span | None:
    """The statement of a line, and the value that it stores."""
    for node in ast.walk(source.tree) if source.tree is not None else ():
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) and node.lineno <= line <= (node.end_lineno or line):
            span: Span = source.span(node, "made and kept here, inside the traced function")
            return span
    return None


__all__ = ["explain_conversion"]

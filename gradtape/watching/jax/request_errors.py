"""Errors of JAX about what `jax.grad` and its kind are asked: dtypes, results, seeds, and the user's own rules."""

from __future__ import annotations

import ast
import re
from typing import Any

import jax
import numpy as np

from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Operand, Problem, Span, source_edit
from gradtape.explain.model.record import Shape
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import find_unreturned_result, one_line, returned_span, source_of, span_of
from gradtape.watching.jax.calls import user_function
from gradtape.watching.jax.failures import Failure, call_at, name_of_jax_numpy, shapes_in

# -- what jax.grad is asked


def explain_request(failure: Failure, failed: Any) -> Problem | None:
    """Integers, vectors and other things that `jax.grad` does not take or return a gradient of."""
    words, site = failure.words, failure.site
    if words.startswith("grad requires real- or complex-valued inputs") or "requires real-valued inputs" in words:
        return _integer_problem(failure)
    if words.startswith("Gradient only defined for scalar-output functions"):
        return _output_problem(failure, failed)
    if "valued outputs (output dtype" in words:
        returned = _returned_by(failed)
        if "but got complex" in words:
            return _complex_problem(failure, returned)
        return problem(
            "GT207",
            f"the function returns {words.rpartition('but got ')[2].partition('.')[0]}, and integers have no gradient",
            spans=[*([returned.labelled("returned here")] if returned else []), site.span],
            fixes="return a floating point number; the number of hits, an argmax or a rounded value has no derivative",
        )
    if "Reverse-mode differentiation does not work for lax.while_loop" in words:
        return _while_problem(failure, failed)
    if "argument to vjp function" in words.lower():
        return _seed_problem(failure)
    if "expected function with aux output" in words:
        returned = _returned_by(failed)
        return problem(
            "GT306",
            "has_aux=True says that the function returns a pair, and it returns something else",
            spans=[*([returned.labelled("returned here")] if returned else []), site.span],
            fixes="return (loss, aux); or leave has_aux out",
        )
    return None


def _complex_problem(failure: Failure, returned: Span | None) -> Problem:
    """A function that returns a complex number, which has no direction of steepest descent."""
    site = failure.site
    jnp_name = name_of_jax_numpy(site)
    offered: list[str] = []
    if returned is not None and returned.column is not None:
        offered = [source_edit(f"{jnp_name}.real({one_line(returned.text)})", returned)]
    return problem(
        "GT311",
        f"the function returns {failure.words.rpartition('but got ')[2].partition('.')[0]}, a complex number; jax.grad "
        "differentiates a real one",
        spans=[*([returned.labelled("returned here")] if returned else []), site.span],
        fixes=[
            f"{jnp_name}.sum({jnp_name}.abs(z) ** 2), a real measure of the complex z",
            *offered,
            "holomorphic=True for the complex derivative of a holomorphic function of complex numbers",
        ],
    )


def _while_problem(failure: Failure, failed: Any) -> Problem:
    """Reverse mode through a loop whose number of steps is not known, which keeps no intermediate states."""
    site = failure.site
    code = getattr(user_function(getattr(failed, "function", None)), "__code__", None)
    source = site.source if code is None else source_of(code.co_filename)
    calls = [
        node
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("while_loop", "fori_loop")
    ]
    inside = [node for node in calls if code is not None and _is_within(source, node, code)] or calls
    spans = [source.span(node) for node in inside[:1]]
    session = getattr(failed, "session", None)
    loops = [] if session is None else [record for record in session.records if record.operation == "while"]
    if not spans and loops and loops[0].location.is_known:  # in a function of a library
        spans = [span_of(loops[0].location, "it has such a loop")]
    return problem(
        "GT313",
        "reverse mode cannot go through a loop whose number of steps is not known before: it keeps no states",
        spans=[*spans, site.span.labelled("the gradient is asked here")] if spans else [site.span],
        fixes=[
            "jax.lax.scan, or jax.lax.fori_loop with bounds that are numbers: for i in range(20)",
            "jax.jvp and jax.jacfwd, forward mode, go through it; jax.custom_vjp gives a fixed point its own rule",
        ],
    )


def _is_within(source: Any, node: ast.AST, code: Any) -> bool:
    """Whether a node is in the function of a code object."""
    scopes = [getattr(scope, "lineno", 0) for scope in source.scopes(node)]
    return code.co_firstlineno in scopes


def _returned_by(failed: Any) -> Span | None:
    code = getattr(user_function(getattr(failed, "function", None)), "__code__", None)
    return None if code is None else returned_span(code)


def _unreturned(failed: Any) -> tuple[Span, Fix] | None:
    """The last statement of a function without `return`, which computes its result, and one that returns it."""
    code = getattr(user_function(getattr(failed, "function", None)), "__code__", None)
    span = None if code is None else find_unreturned_result(code)
    if span is None:
        return None
    source = source_of(span.file)
    node = source.at(span)
    statement = None if node is None else source.statement(node)
    if statement is None:
        return None
    whole = source.span(statement)
    return whole, source_edit(f"return {one_line(span.text)}", whole)


def _integer_problem(failure: Failure) -> Problem:
    site, call = failure.site, call_at(failure.site)
    offered: list[str] = []
    for argument in [] if call is None else call.args:
        value = site.value(argument)
        if isinstance(argument, ast.Constant) and type(argument.value) is int:
            span = site.source.span(argument)
            offered = [source_edit(f"{span.text}.0", span)]
            break
        if hasattr(value, "dtype") and np.dtype(value.dtype).kind in "iub" and isinstance(argument, ast.Name):
            span = site.source.span(argument)
            offered = [source_edit(f"{span.text}.astype(float)", span)]
            break
        if (edited := _float_literals(site, argument)) is not None:
            offered = [edited]
            break
    got = failure.words.rpartition("but got ")[2].partition(".")[0]
    return problem(
        "GT310",
        f"the gradient is asked at an argument of dtype {got}; only floating point numbers have gradients",
        spans=[site.span],
        fixes=[*offered, "write the numbers with a point (3.0), or x.astype(float) where x is made"],
    )


def _float_literals(site: UserExpression, argument: ast.expr) -> Fix | None:
    """`jnp.array([1.0, 2.0])` for `jnp.array([1, 2])`, also where a name was bound to it."""
    part: ast.AST | None = argument
    if isinstance(argument, ast.Name):
        bound = site.binding(argument)
        part = None if bound is None or bound.label else site.source.at(bound)
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
        return None
    numbers = [n for n in ast.walk(part) if isinstance(n, ast.Constant)]
    if part.func.attr not in ("array", "asarray") or not numbers or not all(type(n.value) is int for n in numbers):
        return None
    span = site.source.span(part)
    return source_edit(re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"\1.0", span.text), span)


def _output_problem(failure: Failure, failed: Any) -> Problem:
    words, site = failure.words, failure.site
    returned = _returned_by(failed)
    shape = re.search(r"Output had shape: (\(.*?\))", words)
    jnp_name = name_of_jax_numpy(site)
    if shape is None:
        what = words.partition("Output was ")[2].partition("(")[0].partition("\n")[0].rstrip(".")
        is_pair = words.partition("Output was ")[2].startswith("(")
        title = "the function returns a tuple" if is_pair else f"the function returns {what or 'no number'}"
        fix = (
            "has_aux=True, if the first is the loss and the rest is wanted beside its gradient"
            if is_pair
            else "return the loss, a number"
        )
        spans = [site.span, *([returned.labelled("returned here")] if returned else [])]
        lost = _unreturned(failed) if what == "None" else None
        if lost is not None:
            spans = [lost[0].labelled("computed here, and not returned"), site.span]
            return problem("GT311", f"{title}; jax.grad differentiates one number", spans=spans, fixes=[lost[1], fix])
        return problem("GT311", f"{title}; jax.grad differentiates one number", spans=spans, fixes=fix)
    offered: list[str] = []
    spans = [site.span]
    if returned is not None and returned.column is not None:
        spans.append(returned.labelled(f"returned here, with shape {shape[1]}"))
        text = one_line(returned.text)
        offered = [source_edit(f"{jnp_name}.mean({text})", returned)]
    return problem(
        "GT307",
        f"the function returns {shape[1]}, and jax.grad differentiates one number",
        spans=spans,
        fixes=[
            *offered,
            "jax.jacrev(f) for the derivative of each element; jax.vmap(jax.grad(f)) for a function of one example",
        ],
    )


def _seed_problem(failure: Failure) -> Problem:
    site, call = failure.site, call_at(failure.site)
    shapes = shapes_in(failure.words)
    offered: list[str] = []
    if len(shapes) < 2:
        return problem(
            "GT301",
            "the cotangent has another structure than what the function returned",
            spans=[site.span],
            fixes="one array for each result, in the same tuples, lists and dicts",
        )
    given, wanted = shapes[0], shapes[1]
    part = call.args[0] if call is not None and call.args else None
    operands: list[Operand] = []
    if part is not None:
        span = site.source.span(part)
        operands = [Operand(one_line(span.text), given, None, site.binding(part), span)]
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and len(part.args) == 1:
            if part.func.attr in ("ones", "zeros"):
                size = str(wanted[0]) if len(wanted) == 1 else str(wanted)
                offered = [source_edit(f"{one_line(site.source.text(part.func))}({size})", span)]
        elif isinstance(part, ast.Constant):
            offered = [source_edit(f"{name_of_jax_numpy(site)}.full({wanted}, {span.text})", span)]
    return problem(
        "GT301",
        f"the cotangent has shape {given}, what it weighs has shape {wanted}",
        spans=[site.span],
        operands=operands,
        fixes=[*offered, f"give an array of shape {wanted}; jnp.ones_like(y) has that of the result y"],
    )


# -- rules of the user's own


def explain_rule(failure: Failure, failed: Any) -> Problem | None:
    """What a `custom_vjp` or `custom_jvp` returns and must not."""
    words = failure.words
    if words.startswith("No VJP defined") or words.startswith("No JVP defined"):
        return problem(
            "GT313",
            words.rstrip("."),
            spans=[failure.site.span],
            fixes="f.defvjp(forward, backward) after the function; without a rule, leave custom_vjp out",
        )
    if not words.startswith(("Custom VJP", "Custom JVP", "custom_vjp", "custom_jvp")):
        return None
    is_backward = "bwd rule" in words
    rule = _rule_that_failed(failure, failed)
    function = (
        None if rule is None else (getattr(rule, "bwd" if is_backward else "fwd", None) or getattr(rule, "jvp", None))
    )
    code = getattr(function, "__code__", None)
    spans = [] if code is None else [returned_span(code, "returned here")]
    name = getattr(function, "__name__", "the rule")
    is_count = "structure" in words or "length" in words
    shapes = shapes_in(words)
    if is_count:
        trees = re.findall(r"PyTreeDef\((.*?)\)(?= for|\.|$)", words)
        counts = [tree.count("*") for tree in trees]
        has = f": {counts[0]} for {counts[1]}" if len(counts) == 2 else ""
        title = f"{name} returns another number of gradients than the function has arguments{has}"
        fix = "a tuple with one gradient for each argument; None for those that have none"
        return problem("GT304", title, spans=[*spans, failure.site.span], fixes=fix)
    index = re.search(r"output\[(\d+)\]", words)
    which = f" for argument {index[1]}" if index else ""
    if (len(shapes) >= 2 and "shapes do not match" in words) or len(shapes) >= 2:
        given, wanted = (shapes[0], shapes[1]) if is_backward else (shapes[-1], shapes[0])
        if given != wanted:
            advice = "sum over the axes that the argument was stretched along: a gradient has the shape of its argument"
            what = f"gradient of shape {given}{which}, which has shape {wanted}"
            if not is_backward:
                advice = "a tangent has the shape of the result that it belongs to: nothing is summed over it"
                what = f"tangent of shape {given} for a result of shape {wanted}"
            return problem(
                "GT302",
                f"{name} returns a {what}",
                spans=[*spans, failure.site.span],
                fixes=[*_summed(rule, function, index, given, wanted), advice],
            )
        title = f"{name} returns a gradient of another dtype{which}"
        return problem("GT303", title, spans=[*spans, failure.site.span], fixes="g.astype(x.dtype)")
    return problem("GT302", words.partition("\n")[0], spans=[*spans, failure.site.span])


def _summed(rule: Any, function: Any, index: Any, given: Shape, wanted: Shape) -> list[Fix]:
    """The returned gradient, summed, for an argument that is a number."""
    code = getattr(function, "__code__", None)
    if code is None or index is None or wanted != ():
        return []
    span = returned_span(code)
    source = source_of(span.file)
    node = source.at(span)
    if not isinstance(node, ast.Tuple) or int(index[1]) >= len(node.elts):
        return []
    part = node.elts[int(index[1])]
    names = [bound for bound, module in source.imports.items() if module == "jax.numpy"]
    whole = source.span(part)
    return [source_edit(f"{names[0] if names else 'jax.numpy'}.sum({one_line(whole.text)})", whole)]


def _rule_that_failed(failure: Failure, failed: Any) -> Any:
    session = getattr(failed, "session", None) or getattr(failed, "program", None)
    rules = [] if session is None else [use.call.function for use in session.rules]
    named = [rule for rule in rules if getattr(rule, "__name__", "\0") in failure.words]
    call = call_at(failure.site)
    written = None if call is None else failure.site.value(call.func)  # one that failed before it was recorded
    if isinstance(written, jax.custom_jvp | jax.custom_vjp):
        return written
    return (named or rules or [None])[-1]


__all__ = ["explain_request", "explain_rule"]

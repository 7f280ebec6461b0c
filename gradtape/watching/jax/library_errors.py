"""Errors of JAX, optax, flax and equinox about how they are called: what each kind means, and what to write instead.

Their words are matched by what they are about, not by a whole sentence, which differs between versions. An error that
no row of the table knows is classified by the words that all of these libraries use, and still named with the user's
expression and with what that was given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Operand, Problem, Span, source_edit
from gradtape.explain.source.expression import UserExpression, shape_and_dtype
from gradtape.explain.source.files import one_line
from gradtape.watching.jax.failures import Failure, asked_span, call_at, called_name


class Meaning(NamedTuple):
    """What an error means whose words match a pattern."""

    pattern: str
    code: str
    title: str  # groups of the pattern are filled in; empty for the library's own first sentence
    fixes: tuple[str, ...]
    edit: Callable[[Failure], Fix | None] | None = None
    consequence: str = ""


def explain_misuse(failure: Failure, failed: Any) -> Problem | None:
    """An error whose kind is known by its words."""
    for meaning in MEANINGS:
        match = re.search(meaning.pattern, failure.words, re.DOTALL)
        if match is None:
            continue
        title = match.expand(meaning.title) if meaning.title else first_sentence(failure.words)
        edit = None if meaning.edit is None else meaning.edit(failure)
        spans = [failure.site.span, *_bound_elsewhere(failure, edit), *asked_span(failure)]
        fixes = [*([] if edit is None else [edit]), *meaning.fixes]
        return problem(meaning.code, title, spans=spans, consequence=meaning.consequence, fixes=fixes)
    return None


def explain_otherwise(failure: Failure, failed: Any) -> Problem | None:
    """Any other error that a library raised: the user's expression, what it was given, and the library's words."""
    site = failure.site
    statement = None if site.node is None else site.source.statement(site.node)
    if not isinstance(failure.error, Exception) or isinstance(statement, ast.Raise | ast.Assert):
        return None  # raised by the program itself
    if not failure.below and isinstance(failure.error, TypeError) and "operand" in failure.words:
        return None  # of Python, about other objects
    words = first_sentence(failure.words)
    if not words or isinstance(failure.error, AssertionError | MemoryError | OSError):
        return None
    code = next((code for pattern, code in _WORDS_OF_KINDS if re.search(pattern, words)), "GT314")
    call, name = call_at(site), called_name(site)
    given = [] if call is None else _operands(site, call)
    return problem(
        code,
        f"{name}: {words}" if name else words,
        spans=[site.span, *asked_span(failure)],
        operands=given,
        fixes=[f"look at what {name or 'it'} is given: {', '.join(o.name for o in given)}"] if given else (),
    )


_WORDS_OF_KINDS = (
    (r"(?i)tracer|concrete value|abstract value", "GT210"),
    (r"(?i)tree|structure|dict key|\bkeys?\b.*(missing|not found)", "GT306"),
    (r"(?i)\b[JV]VP\b|differentiat|transpos\w+ rule|autodiff", "GT313"),
    (r"(?i)out of bounds|out of range", "GT115"),
    (r"(?i)shape|rank\b|dimension|broadcast|\baxis\b|\baxes\b|size", "GT110"),
    (r"(?i)deleted|donated|immutable", "GT309"),
)
"""Words that say of which kind an error is, whichever of the libraries raised it."""


def first_sentence(words: str) -> str:
    """The first sentence of a message, without its address.

    >>> first_sentence("Cannot update it. (https://somewhere/errors.html)")
    'Cannot update it'
    """
    line = next((line.strip() for line in words.splitlines() if line.strip()), "")
    return re.sub(r"\s*\(?https?://\S+", "", line).partition(". ")[0].rstrip(".:")


def _operands(site: UserExpression, call: ast.Call) -> list[Operand]:
    """The arrays among the arguments of a call."""
    found = []
    for part in call.args:
        value = site.value(part)
        shape, dtype = shape_and_dtype(value)
        if shape is not None and hasattr(value, "dtype"):
            span = site.source.span(part)
            found.append(Operand(one_line(span.text), shape, dtype, site.binding(part), span))
    return found


def _bound_elsewhere(failure: Failure, edit: Fix | None) -> list[Span]:
    """The place of an edit, if it is another line than that of the error."""
    place = None if edit is None else edit.replaces
    if place is None or place.line == failure.site.span.line:
        return []
    return [place.labelled("to be changed")]


# -- edits


def _function_not_its_value(failure: Failure) -> Fix | None:
    """`grad(loss)` for `grad(loss(params))`."""
    call = call_at(failure.site)
    inner = call.args[0] if call is not None and call.args else None
    if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Name | ast.Attribute):
        return None
    source = failure.site.source
    return source_edit(one_line(source.text(inner.func)), source.span(inner))


def _tuples_for_arrays(failure: Failure) -> Fix | None:
    """`jax.jvp(f, (x,), (v,))` for `jax.jvp(f, x, v)`."""
    call, source = call_at(failure.site), failure.site.source
    if call is None or len(call.args) != 3 or call.keywords:
        return None
    parts = [one_line(source.text(part)) for part in call.args]
    wrapped = [
        text if isinstance(part, ast.Tuple) else f"({text},)" for part, text in zip(call.args[1:], parts[1:])
    ]  # fmt: skip
    return source_edit(f"{one_line(source.text(call.func))}({', '.join([parts[0], *wrapped])})", source.span(call))


def _functions_for_values(failure: Failure) -> Fix | None:
    """`lambda: a` for the branches of `lax.cond` that are values."""
    call, source, site = call_at(failure.site), failure.site.source, failure.site
    if call is None or len(call.args) != 3 or call.keywords:
        return None
    branches = []
    for part in call.args[1:]:
        text = one_line(source.text(part))
        is_function = isinstance(part, ast.Lambda) or callable(site.value(part))
        branches.append(text if is_function else f"lambda: {text}")
    test = one_line(source.text(call.args[0]))
    return source_edit(f"{one_line(source.text(call.func))}({', '.join([test, *branches])})", source.span(call))


def _update_with_params(failure: Failure) -> Fix | None:
    """`tx.update(grads, state, params)`, where the parameters are those that the updates are applied to."""
    call, source = call_at(failure.site), failure.site.source
    if call is None or len(call.args) != 2 or call.keywords or source.tree is None:
        return None
    scope = next(iter(source.scopes(call)), source.tree)
    applied = [
        node.args[0]
        for node in ast.walk(scope)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "apply_updates" and len(node.args) > 1
    ]
    names = {one_line(source.text(part)) for part in applied}
    if len(names) != 1:
        return None
    parts = [one_line(source.text(part)) for part in call.args]
    return source_edit(f"{one_line(source.text(call.func))}({', '.join([*parts, *names])})", source.span(call))


def _tree_without_layer(failure: Failure) -> Fix | None:
    """`model.apply(params, x)` for `model.apply({"params": params}, x)`."""
    call, source = call_at(failure.site), failure.site.source
    first = call.args[0] if call is not None and call.args else None
    if not isinstance(first, ast.Dict) or len(first.keys) != 1:
        return None
    return source_edit(one_line(source.text(first.values[0])), source.span(first))


def _tree_with_layer(failure: Failure) -> Fix | None:
    """`model.apply({"params": params}, x)` for `model.apply(params, x)`, where that has no such key."""
    call, site = call_at(failure.site), failure.site
    if call is None or not call.args or not isinstance(call.func, ast.Attribute) or call.func.attr != "apply":
        return None
    first = call.args[0]
    value = site.value(first)
    if not hasattr(value, "keys") or "params" in value or isinstance(first, ast.Dict):
        return None
    return source_edit(f'{{"params": {one_line(site.source.text(first))}}}', site.source.span(first))


def _tuple_for_list(failure: Failure) -> Fix | None:
    """`(2, 2)` for `[2, 2]`, where that is written or where its name was bound."""
    site = failure.site
    call = call_at(site)
    for part in [] if call is None else [*call.args, *(keyword.value for keyword in call.keywords)]:
        bound = site.binding(part) if isinstance(part, ast.Name) else None
        node = part if bound is None else site.source.at(bound)
        if isinstance(node, ast.List) and (node is part or isinstance(site.value(part), list)):
            inner = ", ".join(one_line(site.source.text(element)) for element in node.elts)
            return source_edit(f"({inner}{',' if len(node.elts) == 1 else ''})", site.source.span(node))
    return None


def _reverse_for_forward(failure: Failure) -> Fix | None:
    """`jax.jacrev(jax.jacrev(f))` for `jax.hessian(f)`, `jax.jacrev(f)` for `jax.jacfwd(f)`."""
    for site in failure.callers:
        node = site.node.value if isinstance(site.node, ast.Expr) else site.node
        for call in [] if node is None else ast.walk(node):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
                continue
            owner = one_line(site.source.text(call.func.value))
            inner = one_line(site.source.text(call.args[0]))
            if call.func.attr == "hessian" and not call.keywords:
                return source_edit(f"{owner}.jacrev({owner}.jacrev({inner}))", site.source.span(call))
            if call.func.attr == "jacfwd" and not call.keywords:
                return source_edit(f"{owner}.jacrev({inner})", site.source.span(call))
    return None


def _vmapped(failure: Failure) -> Fix | None:
    """`jax.vmap(model)(x)` for `model(x)`, where a layer of equinox was given a batch."""
    for site in reversed(failure.callers):
        call = call_at(site)
        if call is None or len(call.args) != 1 or call.keywords or not isinstance(call.func, ast.Name):
            continue
        function, given = site.value(call.func), site.value(call.args[0])
        if getattr(type(function), "__mro__", None) and _is_equinox(function) and getattr(given, "ndim", 0) > 1:
            source = site.source
            name = next((bound for bound, module in source.imports.items() if module == "jax"), "jax")
            return source_edit(f"{name}.vmap({one_line(source.text(call.func))})", source.span(call.func))
    return None


def _own_function(failure: Failure) -> Fix | None:
    """What JAX has in the place of a method of another library: `jax.lax.stop_gradient(x)` for `x.detach()`."""
    site, source = failure.site, failure.site.source
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    calls = [] if node is None else [source.parents.get(node), *ast.walk(node)]
    for call in calls:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
            continue
        owner = one_line(source.text(call.func.value))
        given = ", ".join(one_line(source.text(part)) for part in call.args)
        names = {module: bound for bound, module in source.imports.items()}
        jax_name, jnp_name = names.get("jax", "jax"), names.get("jax.numpy", "jax.numpy")
        text = {
            "detach": f"{jax_name}.lax.stop_gradient({owner})",
            "unsqueeze": f"{jnp_name}.expand_dims({owner}, {given})",
            "view": f"{owner}.reshape({given})",
            "numpy": owner,
            "cpu": owner,
            "float": f"{owner}.astype({jnp_name}.float32)",
            "clamp": f"{jnp_name}.clip({owner}, {given})",
            "exp": f"{jnp_name}.exp({owner})",
            "log": f"{jnp_name}.log({owner})",
            "sqrt": f"{jnp_name}.sqrt({owner})",
            "abs": f"{jnp_name}.abs({owner})",
        }.get(call.func.attr)
        if text is not None:
            return source_edit(text, source.span(call))
    return None


def _is_equinox(value: Any) -> bool:
    return any(kind.__module__.startswith("equinox.") for kind in type(value).__mro__)


def explain_batch(failure: Failure, failed: Any) -> Problem | None:
    """A layer of equinox, which is for one example, that was given a batch."""
    in_layer = any("/equinox/nn/" in frame.f_code.co_filename for frame in failure.below)
    if not in_layer or not re.search(r"(?i)shape|dimension|contracting|rank|array", failure.words):
        return None
    edit = _vmapped(failure)
    if edit is None:
        return None
    place = edit.replaces
    return problem(
        "GT111" if "dot_general" in failure.words or "contracting" in failure.words else "GT110",
        "a layer of equinox takes one example, and is given a batch of them",
        spans=[*([] if place is None else [place]), failure.site.span, *asked_span(failure)],
        fixes=[edit, "jax.vmap(model)(x), or jax.vmap(model, in_axes=(0, None))(x, key) with further arguments"],
    )


def explain_tree_arithmetic(failure: Failure, failed: Any) -> Problem | None:
    """`params - 0.1 * grads`, where one of them is a dict, a list or another tree of arrays."""
    site = failure.site
    if failure.below or not isinstance(failure.error, TypeError):
        return None
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    if isinstance(node, ast.AugAssign):
        parts = [node.target, node.value]
    trees = [part for part in parts if _is_tree(site.value(part))]
    if not trees:
        return None
    names = [one_line(site.source.text(part)) for part in trees]
    value = site.value(trees[0])
    kind = type(value).__name__
    is_pair = isinstance(value, tuple) and len(value) == 2 and getattr(value[0], "shape", None) == ()
    spans = [site.span]
    origin = site.binding(trees[0]) if isinstance(trees[0], ast.Name) else None
    if origin is not None:
        spans.append(origin.labelled(f"{names[0]} is made here"))
    fixes = ["params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)"]
    if is_pair:
        fixes.insert(0, f"value, {names[0]} = ...: value_and_grad returns the value first and then the gradient")
    return problem(
        "GT306",
        f"{names[0]} is a {kind} of arrays, with which Python cannot compute as with an array",
        spans=[*spans, *asked_span(failure)],
        fixes=fixes,
    )


def _is_tree(value: Any) -> bool:
    """Whether a value holds arrays of JAX and is none."""
    if isinstance(value, jax.Array | type):
        return False
    leaves = jax.tree_util.tree_leaves(value)
    is_leaf = len(leaves) == 1 and leaves[0] is value
    return not is_leaf and any(isinstance(leaf, jax.Array) for leaf in leaves)


MEANINGS = (
    # what jax.grad and its kind are given
    Meaning(
        r"Expected a callable value, got|must be callable|should be a function, got",
        "GT314",
        "the function itself is wanted here, and its value is given",
        ("jax.grad(f)(x): first the function, then its arguments",),
        _function_not_its_value,
    ),
    Meaning(
        r"true_fun and false_fun arguments should be callable|branches.*callable|(body|cond)_fun.*callable",
        "GT314",
        "the branches are functions, which JAX calls, and values are given",
        ("jax.lax.cond(test, lambda x: ..., lambda x: ..., x); jnp.where(test, a, b) for two values",),
        _functions_for_values,
    ),
    Meaning(
        r"primal and tangent arguments to jax\.jvp must be tuples or lists",
        "GT301",
        "jax.jvp takes the points and the tangents as tuples, one of each for every argument",
        ("jax.jvp(f, (x,), (v,))",),
        _tuples_for_arrays,
    ),
    Meaning(
        r"primal and tangent arguments to jax\.jvp",
        "GT301",
        "",
        ("a tangent has the structure, the shapes and the dtypes of its point: jnp.ones_like(x), v.astype(x.dtype)",),
    ),
    Meaning(
        r"jvp called with different primal and tangent shapes",
        "GT301",
        "",
        ("a tangent has the shape of its point: jnp.ones_like(x)",),
    ),
    Meaning(
        r"[Cc]allbacks? do(es)? not support (JVP|VJP|reverse|transpose)",
        "GT313",
        "JAX knows no derivative of a function that it calls back",
        (
            "the same function of jax.numpy, jax.scipy or jax.nn, if there is one",
            "jax.custom_jvp, or jax.custom_vjp, around the callback gives it a derivative",
        ),
    ),
    Meaning(
        r"can't apply forward-mode (autodiff|differentiation) \(jvp\) to a custom_vjp function",
        "GT313",
        "forward mode goes through a function with a custom_vjp, which has a rule for reverse mode only",
        (
            "jax.jacrev(jax.jacrev(f)) for the Hessian, jax.jacrev for a Jacobian",
            "jax.custom_jvp instead of custom_vjp: it serves both modes",
        ),
        _reverse_for_forward,
    ),
    Meaning(
        r"Non-hashable static arguments|unhashable type|non-hashable|is not hashable",
        "GT314",
        "a static argument has to be hashable, and a list, a dict or an array is not",
        ("a tuple instead of a list; or not static, if it is an array",),
        _tuple_for_list,
    ),
    Meaning(
        r"Array has been deleted|buffer has been (deleted|donated)",
        "GT309",
        "an array is used whose memory was given away: it was donated to a compiled function",
        (
            "use what the compiled function returned: params = step(params, ...)",
            "leave it out of donate_argnums, or make a copy before: jnp.copy(x)",
        ),
    ),
    Meaning(
        r"(?:Tracer|Array\w*)'?(?: object)? has no attribute '?(\w+)",
        "GT314",
        r"arrays of JAX have no \1",
        ("functions of jax.numpy and jax.lax take the place of methods of other libraries",),
        _own_function,
    ),
    # optax
    Meaning(
        r"not passing `params` when calling `update`|requires? .*params.*update",
        "GT314",
        "this optimiser needs the parameters for its update, and is not given them",
        ("updates, state = tx.update(grads, state, params)",),
        _update_with_params,
    ),
    # flax
    Meaning(
        r"Cannot update variable \"(\w+)\" in \"(.*?)\" because collection \"(\w+)\" is immutable",
        "GT314",
        r"\2 updates its \1 in \3, and apply was not told that \3 may change",
        (
            'y, changed = model.apply(variables, x, mutable=["batch_stats"]); then keep changed["batch_stats"]',
            "with has_aux=True the loss returns it beside its value; use_running_average=True for evaluation",
        ),
    ),
    Meaning(
        r"extra params layer",
        "GT306",
        'the variables are {"params": {"params": ...}}: what init returned is wrapped once more',
        ('model.apply(variables, x) with what init returned, or {"params": variables["params"]}',),
        _tree_without_layer,
    ),
    Meaning(
        r"should be a dictionary of collections",
        "GT306",
        'apply takes a dict of collections, {"params": ...}, and is given another one',
        ('apply takes what init returned: model.apply(variables, x), or {"params": params}',),
        _tree_with_layer,
    ),
    Meaning(
        r"Tried to access \"(\w+)\" from collection \"(\w+)\" in \"(.*?)\" but the collection is empty",
        "GT306",
        r"what the module was given has no \2, in which it looks for \1",
        ('apply takes what init returned: model.apply(variables, x), or {"params": params}',),
        _tree_with_layer,
    ),
    Meaning(
        r"Could not find parameter named \"(\w+)\" in scope \"(.*?)\"",
        "GT306",
        r"the module has no parameter \1 in what it was given for \2",
        (
            'apply takes what init returned: model.apply(variables, x), or {"params": params}',
            "the names follow the order in which layers are made; the module that was initialised has to be the same",
        ),
        _tree_with_layer,
    ),
    Meaning(
        r"(\S+) needs PRNG for \"(\w+)\"",
        "GT314",
        r"\1 draws random numbers, and was given no key for \2",
        (
            'model.apply(variables, x, rngs={"dropout": key}), with another key in each step',
            "deterministic=True where nothing is to be dropped",
        ),
    ),
    Meaning(
        r"missing \d+ required positional arguments?: (.*)",
        "GT314",
        r"an argument is missing: \1",
        ("help() of what is called shows the order of its arguments",),
    ),
    # vmap
    Meaning(
        r"vmap in_axes must be an int, None, or a tuple.*len\(in_axes\)=(\d+), len\(args\)=(\d+)",
        "GT314",
        r"in_axes has \1 entries, and the function is called with \2 arguments",
        ("one entry for each argument: in_axes=(None, 0, 0), with None for what is the same for all examples",),
    ),
    Meaning(
        r"vmap (in_axes|out_axes|was requested to map|must have at least one)",
        "GT314",
        "",
        (
            "in_axes has one entry for each argument: an axis to map over, or None for what is the same for all",
            "an entry for a dict or a list is one number for all its arrays, or a tree with the same keys",
        ),
    ),
    # structures
    Meaning(
        r"(scan|body_fun|f).*(must be a pair|must return.*pair|not a pair|two-tuple|too many values|to have length 2)",
        "GT306",
        "the body of scan returns a pair: the state for the next step, and what is kept of this one",
        ("return state, None if nothing is kept",),
    ),
    Meaning(
        r"Expected None, got|Mismatch custom node data|tree structures? (mismatch|do(es)? not match)|"
        r"(Tuple|List) arity mismatch|Dict key mismatch|Named tuple type mismatch|Expected (tuple|dict|list)",
        "GT306",
        "two trees of arrays do not have the same structure",
        (
            "the same keys and lengths in both: jax.tree.structure(a) shows them",
            "state = tx.init(params) for the very tree that gradients are taken by",
        ),
    ),
)
"""The kinds of errors that are known, the special ones first."""


__all__ = ["explain_batch", "explain_misuse", "explain_otherwise", "explain_tree_arithmetic", "first_sentence"]

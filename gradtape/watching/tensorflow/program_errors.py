"""Errors in the program's own expressions that TensorFlow or Python raised, known by their words.

Numbers that are not there while a graph is built, tensors that are written to or have left their graph, indices out of
range, and gradients that are given to an optimiser in the wrong order.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from gradtape.explain.fixes.shape_edits import add_argument
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span, source_edit
from gradtape.explain.render.spelling import name_in
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line, unreturned_result
from gradtape.watching.tensorflow import values

_SYMBOLIC = r"(?:SymbolicTensor|KerasTensor|Tensor)"


def _statement(site: UserExpression) -> ast.stmt | None:
    return None if site.node is None else site.source.statement(site.node)


def _parts(site: UserExpression) -> Iterator[ast.expr]:
    """The expressions of the statement that raised."""
    statement = _statement(site)
    return (node for node in ([] if statement is None else ast.walk(statement)) if isinstance(node, ast.expr))


def _tensorflow(site: UserExpression) -> str:
    """How the file calls TensorFlow."""
    return next((name for name, module in site.source.imports.items() if module == "tensorflow"), "tf")


# -- in a graph


def _no_number(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """`x.numpy()`, `float(x)`, `math.exp(x)` or a function of NumPy, of a tensor of a graph that is being built."""
    what, offered = "this", list[str]()
    for node in _parts(site):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        text = one_line(site.source.text(function))
        if isinstance(function, ast.Attribute) and function.attr in ("numpy", "item", "tolist") and not node.args:
            what = f".{function.attr}()"
            offered = [source_edit(one_line(site.source.text(function.value)), site.source.span(node))]
            break
        if isinstance(function, ast.Name) and function.id in ("float", "int") and len(node.args) == 1:
            what = f"{function.id}()"
            offered = [source_edit(one_line(site.source.text(node.args[0])), site.source.span(node))]
            break
        module = site.source.imports.get(getattr(getattr(function, "value", None), "id", ""), "")
        if isinstance(function, ast.Attribute) and module in ("math", "numpy"):
            what, name = text, name_in("tensorflow", function.attr)
            if name:
                offered = [source_edit(f"{_tensorflow(site)}.{name}", site.source.span(function))]
            break
    return problem(
        "GT312",
        f"{what} wants the numbers of a tensor that has none yet: the function is being traced",
        spans=[site.span],
        notes=["tf.function and fit build a graph first, with shapes only; the numbers come when it is executed"],
        consequence="a number would be a constant of the graph, and the gradient through it lost",
        fixes=[*offered, "compute with functions of TensorFlow; tf.print shows numbers; run_eagerly=True in compile"],
    )


def _no_truth(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """A tensor of a graph in an `if` or a `for` that AutoGraph has not converted."""
    statement = _statement(site)
    test = getattr(statement, "test", getattr(statement, "iter", None))
    text = one_line(site.source.text(test)) if isinstance(test, ast.expr) else "a tensor"
    tensorflow = _tensorflow(site)
    is_loop = "terating" in match[0]
    return problem(
        "GT314",
        f"{text} is a tensor of a graph, which has no {'length' if is_loop else 'truth'} while that is built",
        spans=[site.span],
        notes=["AutoGraph converts if and for in functions that it sees the source of, unless autograph=False"],
        fixes=[
            f"{tensorflow}.map_fn or {tensorflow}.scan, or autograph=True"
            if is_loop
            else f"{tensorflow}.where({text}, a, b) or {tensorflow}.cond; or autograph=True"
        ],
    )


def _out_of_scope(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """A tensor of a graph that is used outside of the function it was traced in."""
    name = "a tensor"
    for node in _parts(site):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and _holds_symbolic(site.value(node)):
            name = node.id
            break
    function = re.search(r"FuncGraph\(name=(\w+)", words)
    spans = [site.span, *_kept_in(site, name)]
    return problem(
        "GT211",
        f"{name} {'is' if name == 'a tensor' else 'has a tensor'} of the graph of "
        f"{function[1] if function else 'a tf.function'}, which is used outside of it",
        spans=spans,
        notes=["while a tf.function is traced its tensors stand for numbers of every call: they have none themselves"],
        fixes="return it from the function; a tf.Variable, or tf.TensorArray inside, keeps numbers from call to call",
    )


def _holds_symbolic(value: Any) -> bool:
    held = value if isinstance(value, list | tuple) else [value]
    return any(values.is_symbolic(x) for x in held[:100])


def _kept_in(site: UserExpression, name: str) -> list[Span]:
    """Where a list gets what it holds: `history.append(loss)`."""
    return [
        site.source.span(node).labelled("kept here")
        for node in ([] if site.source.tree is None else ast.walk(site.source.tree))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("append", "extend") and getattr(node.func.value, "id", "") == name
    ][:1]  # fmt: skip


# -- writing and reading


def _item_assignment(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """`x[0] = 1.0` of a tensor or a variable."""
    statement = _statement(site)
    if isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AugAssign):
        target, value = statement.target, statement.value
    else:
        return None
    if not isinstance(target, ast.Subscript):
        return None
    name = one_line(site.source.text(target.value))
    tensorflow = _tensorflow(site)
    is_variable = "Variable" in match[1]
    offered: list[str] = []
    if is_variable and isinstance(statement, ast.Assign):
        text = f"{one_line(site.source.text(target))}.assign({one_line(site.source.text(value))})"
        offered = [source_edit(text, site.source.span(statement))]
    return problem(
        "GT309",
        f"{name} is a {'Variable' if is_variable else 'tensor'}, and cannot be written to by an index",
        spans=[site.source.span(statement)],
        fixes=[
            *offered,
            f"{name}[i].assign(value), outside of what is differentiated"
            if is_variable
            else f"{tensorflow}.tensor_scatter_nd_update({name}, [[i]], [value]) makes a new tensor; or {tensorflow}"
            f".concat, {tensorflow}.where",
        ],
    )


def _index_range(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """An index of `tf.gather` or an embedding that is not there."""
    place, number, count = match[1], int(match[2]), int(match[3])
    layer = re.search(r"calling (\w+)\.call\(\)", words)
    kind = layer[1] if layer else "this"
    size = "input_dim" if kind == "Embedding" else "axis"
    source = site.source
    made = [
        node.args[0]
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == kind
        and node.args and getattr(node.args[0], "value", None) == count
    ]  # fmt: skip
    spans = [site.span, *(source.span(part).labelled(f"{count} rows") for part in made[:1])]
    offered = [source_edit(str(number + 1), source.span(made[0]))] if len(made) == 1 and number >= count else []
    return problem(
        "GT115",
        f"index {number} at [{place}] is out of range: {kind} has {count} rows, 0 to {count - 1}",
        spans=spans,
        notes=["indices start at 0: the largest is one less than the number of rows"] if number == count else [],
        fixes=[*offered, f"a larger {size}, or other indices: tf.reduce_max(indices) shows the largest"],
    )


# -- optimisers


def _swapped_pairs(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """`apply_gradients(zip(variables, gradients))`."""
    calls = [node for node in _parts(site) if isinstance(node, ast.Call)]
    if not any(getattr(call.func, "attr", "") in ("apply_gradients", "apply") for call in calls):
        return None
    for call in calls:
        if getattr(call.func, "id", "") != "zip" or len(call.args) != 2:
            continue
        first, second = call.args
        span, second_span = site.source.span(first), site.source.span(second)
        gradients = site.value(second)
        is_swapped = isinstance(gradients, list | tuple) and any(values.is_eager(x) for x in gradients)
        if not is_swapped or any(values.handle_of(x) is not None for x in gradients):
            continue
        whole = site.source.span(call)
        text = f"zip({one_line(second_span.text)}, {one_line(span.text)})"
        return problem(
            "GT306",
            "apply_gradients takes pairs of a gradient and a variable, and is given a variable and a gradient",
            spans=[site.span],
            fixes=[source_edit(text, whole), "zip(gradients, variables)"],
        )
    return None


def _rule_without_variables(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """A rule of `tf.custom_gradient` for a function with variables, which lacks the argument for them."""
    rules = _functions_with(site, "custom_gradient")
    inner = [
        node for rule in rules for node in ast.walk(rule) if isinstance(node, ast.FunctionDef) and node is not rule
    ]
    spans, offered = [site.span], list[str]()
    if len(inner) == 1:
        rule = inner[0]
        head = site.source.lines[rule.lineno - 1]
        spans.insert(0, _line_span(site, rule.lineno, "the rule"))
        changed = head.replace("):", ", variables=None):", 1).strip()
        offered = [f"{changed} and return (gradients of the arguments, [gradients of the variables])"]
    return problem(
        "GT304",
        "the function uses variables, and its rule does not take them: it needs the argument `variables`",
        spans=spans,
        notes=[
            "the rule then returns two things: the gradients of the arguments, and a list of those of the variables"
        ],
        fixes=[*offered, "give the variable to the function as an argument: then its gradient is one of the others"],
    )


def _functions_with(site: UserExpression, decorator: str) -> list[ast.FunctionDef]:
    return [
        node
        for node in ([] if site.source.tree is None else ast.walk(site.source.tree))
        if isinstance(node, ast.FunctionDef)
        and any(getattr(each, "attr", getattr(each, "id", "")) == decorator for each in node.decorator_list)
    ]


def _line_span(site: UserExpression, line: int, label: str) -> Span:
    text = site.source.lines[line - 1].rstrip("\n")
    start = len(text) - len(text.lstrip())
    return Span(site.source.file, line, start, len(text), source=text, label=label)


def _sparse_arithmetic(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """Arithmetic with the gradient of an embedding, which TensorFlow keeps as the rows that have changed."""
    offered: list[str] = []
    for node in _parts(site):
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else []
        sparse = [part for part in operands if type(site.value(part)).__name__ == "IndexedSlices"]
        names = [part for part in operands if isinstance(part, ast.Name) and not isinstance(part, ast.Constant)]
        part = next(iter([*sparse, *names]), None)
        if part is not None:
            text = f"{_tensorflow(site)}.convert_to_tensor({one_line(site.source.text(part))})"
            offered = [source_edit(text, site.source.span(part))]
            break
    return problem(
        "GT314",
        "the gradient of an embedding or of tf.gather is IndexedSlices, which have no arithmetic",
        spans=[site.span],
        notes=["it has the rows that were read, in .values, and their numbers, in .indices"],
        fixes=[*offered, "tf.convert_to_tensor(g) makes it dense; tf.linalg.global_norm and the optimisers take both"],
    )


def _keras(site: UserExpression) -> str:
    """How the file calls Keras."""
    found = next((name for name, module in site.source.imports.items() if module in ("keras", "tensorflow.keras")), "")
    return found or f"{_tensorflow(site)}.keras"


def _function_of_keras_tensor(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """A function of TensorFlow on the symbolic input of a functional model."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    function = call.func if isinstance(call, ast.Call) else None
    keras = _keras(site)
    offered: list[str] = []
    name = "this"
    if function is not None:
        name = one_line(site.source.text(function))
        last = getattr(function, "attr", "").removeprefix("reduce_")
        if hasattr(importlib.import_module("keras").ops, last):
            offered = [source_edit(f"{keras}.ops.{last}", site.source.span(function))]
    return problem(
        "GT313",
        f"{name} is given the symbolic input of a functional model, which has no numbers",
        spans=[site.span],
        notes=["while a functional model is built its tensors are KerasTensors: layers and keras.ops take them"],
        fixes=[*offered, f"the function of {keras}.ops, or a layer whose call has it: {keras}.layers.Lambda"],
    )


def _unknown_length(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """`range(x.shape[0])` where the number of examples is not known yet."""
    shapes = [
        node for node in _parts(site)
        if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape"
    ]  # fmt: skip
    if not shapes or not isinstance(shapes[0].value, ast.Attribute):
        return None
    text, owner = (one_line(site.source.text(node)) for node in (shapes[0], shapes[0].value.value))
    index, tensorflow = one_line(site.source.text(shapes[0].slice)), _tensorflow(site)
    return problem(
        "GT314",
        f"{text} is None: while the function is traced, this length is not known",
        spans=[site.span],
        notes=["fit and tf.function trace with batches of any length; the last batch may be shorter"],
        fixes=[
            f"{tensorflow}.shape({owner})[{index}] is the length when the graph is executed; in a for loop, "
            f"{tensorflow}.range of it",
            "functions of whole tensors instead of a loop over the examples",
        ],
    )


def _without_return(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """A custom loss, metric or layer that returns nothing."""
    functions = [n for n in ([] if site.source.tree is None else ast.walk(site.source.tree)) if _is_function(n)]
    for function in functions:
        found = unreturned_result(function)
        if found is None:
            continue
        statement, value = found
        text = f"return {one_line(site.source.text(value))}"
        span = site.source.span(statement)
        return problem(
            "GT311",
            f"{function.name} returns nothing: what it computes is lost, and its result is None",
            spans=[span, site.span.labelled("its result is used here")],
            fixes=[source_edit(text, span)],
        )
    return None


def _is_function(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and not node.name.startswith("__")


def _old_optimiser(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """`optimizer.minimize(loss, variables)`, which the optimisers of Keras 3 do not have."""
    tensorflow = _tensorflow(site)
    return problem(
        "GT314",
        f"the optimisers of Keras 3 have no {match[2]}: {match[1]} takes gradients",
        spans=[site.span],
        fixes=f"with {tensorflow}.GradientTape() as tape: loss = ...; then "
        "optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))",
    )


def _without_variables(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """`apply_gradients(gradients)`, without the variables."""
    calls = [n for n in _parts(site) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "apply_gradients"]
    if not calls or not calls[0].args or isinstance(calls[0].args[0], ast.Call):
        return None
    part = calls[0].args[0]
    made = site.binding(part)
    request = None if made is None else site.source.at(made)
    offered: list[str] = []
    if isinstance(request, ast.Call) and len(request.args) > 1:
        variables = one_line(site.source.text(request.args[1]))
        offered = [source_edit(f"zip({one_line(site.source.text(part))}, {variables})", site.source.span(part))]
    return problem(
        "GT306",
        "apply_gradients takes pairs of a gradient and a variable, and is given the gradients alone",
        spans=[site.span],
        fixes=[*offered, "zip(gradients, variables); or optimizer.apply(gradients, variables)"],
    )


def _mapped_dtype(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """`tf.map_fn` over integers whose function returns real numbers."""
    calls = [n for n in _parts(site) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "map_fn"]
    tensorflow = _tensorflow(site)
    argument = f"fn_output_signature={tensorflow}.{match[2]}"
    offered: list[str] = []
    if len(calls) == 1:
        whole = site.source.span(calls[0])
        offered = [source_edit(add_argument(one_line(whole.text), argument), whole)]
    return problem(
        "GT314",
        f"the function returns {match[2]}, and its results are collected as {match[1]}, the dtype of the elements",
        spans=[site.span],
        fixes=[*offered, f"{argument} says what the function returns"],
    )


def _changing_shape(site: UserExpression, match: re.Match[str], words: str) -> Problem:
    """A loop in a graph whose tensor changes its shape."""
    shapes = re.search(r"shape \(([^()]*)\)[^(]*before the loop, but shape \(([^()]*)\)", words)
    told = f": ({shapes[1]}) before the loop, ({shapes[2]}) after a step" if shapes else ""
    return problem(
        "GT110",
        f"a tensor changes its shape in a loop of a graph{told}",
        spans=[site.span],
        notes=["a loop in a graph keeps the shape of each of its variables, unless it is told that a length varies"],
        fixes=f"shape_invariants=... with None for the length that changes; or a {_tensorflow(site)}.TensorArray",
    )


Explain = Callable[[UserExpression, re.Match[str], str], Problem | None]
PATTERNS: tuple[tuple[str, Explain], ...] = (
    (r"A KerasTensor cannot be used as input to a TensorFlow function", _function_of_keras_tensor),
    (r"'NoneType' object cannot be interpreted as an integer|'NoneType' and 'int'", _unknown_length),
    (r"None values not supported", _without_return),
    (r"'(\w+)' object has no attribute '(minimize|get_gradients|compute_gradients)'", _old_optimiser),
    (r"not enough values to unpack \(expected 2, got \d+\)|too many values to unpack", _without_variables),
    (r"TensorArray dtype is (\w+) but Op is trying to write dtype (\w+)", _mapped_dtype),
    (r"shape_invariants|has shape \S+ before the loop, but shape", _changing_shape),
    (r"grad_fn must accept keyword argument 'variables'", _rule_without_variables),
    (r"unsupported operand type\(s\)[^\n]*'IndexedSlices'", _sparse_arithmetic),
    (rf"'{_SYMBOLIC}' object has no attribute '(?:numpy|item|tolist)'", _no_number),
    (rf"argument must be [^\n]*, not '{_SYMBOLIC}'|must be real number, not {_SYMBOLIC}", _no_number),
    (r"Cannot convert a symbolic [^\n]*to a numpy array|can't convert [^\n]*KerasTensor", _no_number),
    (r"as a Python `bool` is not allowed|[Ii]terating over a symbolic `tf.Tensor` is not allowed", _no_truth),
    (r"is out of scope and cannot be used here|is out of scope", _out_of_scope),
    (r"'([\w.]*(?:Tensor|Variable))' object does not support item assignment", _item_assignment),
    (r"indices\[([\d, ]*)\] = (-?\d+) is not in \[0, (\d+)\)", _index_range),
    (r"has no attribute '_unique_id'|has no attribute 'overwrite_with_gradient'|apply_gradients", _swapped_pairs),
)


__all__ = ["PATTERNS"]

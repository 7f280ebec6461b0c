"""JAX's own errors, explained: what in the user's line they are about, and what to write instead.

The frames of an error that was raised still have their variables: the user's line, and in the first frame of JAX below
it the operands that it was given.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gradtape.core.location import is_library
from gradtape.explain.detectors.shape_mismatch import axis_problem, find_shape_problem, index_problem
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Operand, Problem, Span
from gradtape.explain.model.record import Shape
from gradtape.explain.source.axes import is_elementwise
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line, returned_span, source_of
from gradtape.watching.jax.hooks import user_function
from gradtape.watching.jax.operations import function_name

_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
    ast.MatMult: "matmul",
    ast.Mod: "remainder",
    ast.FloorDiv: "floor_divide",
}
_TYPE = re.compile(r"\b(?:bfloat|float|complex|uint|int|bool|f|i|u|c)\d*\[([\d,]*)\]")


class Failure(NamedTuple):
    """An error, the user's expression that it passed through last, and the frame of JAX that this expression called."""

    error: BaseException
    words: str
    site: UserExpression
    called: FrameType | None
    below: Sequence[FrameType]
    callers: Sequence[UserExpression]  # of the user's, the outermost first


def explain(error: BaseException, failed: Any = None) -> Problem | None:
    """The explanation of an error of JAX's, which is added to it; None if there is none.

    `failed` is the call of `jax.grad`, `jax.jit` or one of their kind that the error ended.
    """
    known: Problem | None = getattr(error, "problem", None)
    if known is not None:
        return known
    failure = _failure_of(error)
    if failure is None:
        return None
    for explainer in _EXPLAINERS:
        found = explainer(failure, failed)
        if found is not None:
            error.problem = found  # type: ignore[attr-defined]
            error.add_note(found.to_text())
            return found
    return None


def _failure_of(error: BaseException) -> Failure | None:
    trace, places = error.__traceback__, []
    while trace is not None:
        places.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    mine = [index for index, (frame, _) in enumerate(places) if not is_library(frame.f_code.co_filename)]
    if not mine:
        return None
    last = mine[-1]
    below = [frame for frame, _ in places[last + 1 :] if not frame.f_code.co_filename.startswith(_OUR_FOLDER)]
    callers = [UserExpression(*places[index]) for index in mine]
    is_jax = any("jax" in frame.f_code.co_filename for frame in below) or type(error).__module__.startswith("jax")
    words = str(error)
    if not is_jax and not any(part in words for part in _WORDS_OF_JAX):
        return None
    return Failure(error, words, callers[-1], below[0] if below else None, below, callers)


_OUR_FOLDER = __file__.rpartition("/")[0]
_WORDS_OF_JAX = (
    "Gradient only defined",
    "grad requires",
    "Custom VJP",
    "Custom JVP",
    "custom_vjp",
    "JAX",
    "jax",
    "vmap got",
    "cond branches",
    "scan body",
    "dot_general",
    "aux output",
    "argnums",
    "pytree",
    "incompatible shapes for broadcasting",
    "Incompatible shapes for broadcasting",
)


def shapes_in(words: str) -> list[Shape]:
    """The shapes of the types in a message of JAX's.

    >>> shapes_in("got float32[3], but expected float32[4,2]")
    [(3,), (4, 2)]
    """
    return [tuple(int(n) for n in found.split(",") if n) for found in _TYPE.findall(words)]


def _call(site: UserExpression) -> ast.Call | None:
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    return node if isinstance(node, ast.Call) else None


def _name_called(site: UserExpression) -> str:
    call = _call(site)
    if call is None:
        return ""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


# -- the operands of the operation that failed


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [array for each in value for array in _arrays(each)]
    return [value] if hasattr(value, "shape") and hasattr(value, "dtype") else []


def _operands_of(failure: Failure) -> list[Any]:
    """The arrays that the function of JAX was called with, in the order of the expression."""
    for inner in failure.below:
        given = inner.f_locals.get("args")
        if "binary_op" in inner.f_code.co_name and isinstance(given, tuple):
            return [*given]
    frame = failure.called
    if frame is None:
        return []
    code = frame.f_code
    count = code.co_argcount
    names = code.co_varnames[:count]
    if code.co_flags & inspect.CO_VARARGS:
        names += (code.co_varnames[count + code.co_kwonlyargcount],)
    found = [array for name in names for array in _arrays(frame.f_locals.get(name))]
    node = failure.site.node.value if isinstance(failure.site.node, ast.Expr) else failure.site.node
    if isinstance(node, ast.BinOp) and len(found) == 2 and _is_reflected(failure.below):
        found.reverse()
    return found


def _is_reflected(frames: Sequence[FrameType]) -> bool:
    return any(frame.f_code.co_name.startswith(("_r", "__r")) for frame in frames[:3])


def _operation_at(site: UserExpression) -> str:
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return _OPERATORS.get(type(node.op), "")
    if isinstance(node, ast.Compare):
        return "less"
    name = function_name(_name_called(site))
    return {"hstack": "concatenate", "vstack": "concatenate", "append": "concatenate"}.get(name, name)


def _constant(site: UserExpression, call: ast.Call, name: str, position: int) -> Any:
    part = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if part is None and len(call.args) > position:
        part = call.args[position]
    try:
        return None if part is None else ast.literal_eval(part)
    except ValueError:
        value = site.value(part) if isinstance(part, ast.Name) else None
        return value if isinstance(value, int | tuple) else None


def _explain_shapes(failure: Failure, failed: Any) -> Problem | None:
    """Shapes that do not fit in an operation."""
    words, site = failure.words, failure.site
    is_about_shapes = re.search(
        r"shape|dimension|broadcast|contracting|concatenate|stack|Size of label|out of bounds|indices", words
    )
    if not is_about_shapes or not isinstance(failure.error, TypeError | ValueError | IndexError):
        return None
    if failure.called is None or any(
        words.startswith(start) for start in ("Custom", "cond", "scan", "vmap", "Gradient")
    ):
        return None
    inputs = _operands_of(failure)
    if isinstance(failure.error, IndexError):
        return index_problem(site, site.operands(inputs[:1]), words[:1].lower() + words[1:]) if inputs else None
    out_of_bounds = re.search(r"axis (-?\d+) is out of bounds for array of dimension (\d+)", words)
    if out_of_bounds:
        shape = tuple(inputs[0].shape) if inputs else None
        return axis_problem(int(out_of_bounds[1]), int(out_of_bounds[2]), shape, site)
    name, call = _operation_at(site), _call(site)
    if not inputs and (written := re.search(r"shapes=\[(.*)\]|for broadcasting: (.*)\.|got (\(.*\))\.", words)):
        listed = ast.literal_eval(f"[{next(group for group in written.groups() if group)}]")
        inputs = [np.broadcast_to(np.float32(0), shape) for shape in listed]
    params: dict[str, Any] = {}
    if name in ("concatenate", "stack") and call is not None:
        params["axis"] = _constant(site, call, "axis", 1) or 0
    if name == "reshape" and (sizes := re.search(r"into shape (\([\d, -]*\))", words)):
        params["shape"] = ast.literal_eval(sizes[1])
    if name == "einsum" and call is not None and call.args and isinstance(call.args[0], ast.Constant):
        params["subscripts"] = str(call.args[0].value).replace(" ", "")
    if name in ("where", "clip", "maximum", "minimum") or is_elementwise(name):
        kind = "elementwise"
    else:
        kind = ""
    if not inputs:
        return None
    operands = site.operands(inputs)
    shapes = [tuple(x.shape) if hasattr(x, "shape") else () for x in inputs]
    found = find_shape_problem(site, operands, shapes, name, kind, params, words)
    if found is None and "contracting" in words and len(shapes) == 2:
        found = find_shape_problem(site, operands, shapes, "matmul", "", params, words)
    if found is None:
        return problem("GT110", words.partition("\n")[0].rstrip("."), spans=[site.span], operands=operands)
    return found


# -- a value that is not there while a function is traced


def _explain_conversion(failure: Failure, failed: Any) -> Problem | None:
    """A tracer where Python wants a number: `float(x)`, `if x > 0`, a function of NumPy, an index, a length."""
    error, words, site = failure.error, failure.words, failure.site
    kind = type(error).__name__
    if not isinstance(error, jax.errors.JAXTypeError | jax.errors.JAXIndexError):
        return None
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
    call = _call(site)
    name = _name_called(site)
    if kind == "TracerIntegerConversionError" or "argument" in words.split("The error occurred")[0].partition("\n")[2]:
        offered = [
            "a length, a shape or a Python index has to be known: jax.jit(f, static_argnums=...) makes an argument one",
            "jax.lax.fori_loop and jax.lax.scan for a loop whose number of steps is computed",
        ]
    elif call is not None and name in ("float", "int", "bool", "complex") and len(call.args) == 1 and not call.keywords:
        inner = one_line(site.source.text(call.args[0]))
        if name == "float":
            offered = [Fix(inner, True, site.span)]
        else:
            offered = [f"{inner} itself; {inner}.astype({name}) has that dtype, and no gradient"]
    elif call is not None and name in ("item", "tolist") and isinstance(call.func, ast.Attribute):
        offered = [Fix(one_line(site.source.text(call.func.value)), True, site.span)]
    elif call is not None and hasattr(jnp, name):
        offered = _of_jax_numpy(failure, call, name)
    return problem(
        "GT210",
        f"{text if len(text) <= 50 else name or 'this'} wants a number, and is given a traced array",
        spans=[site.span, *_asked(failure)],
        notes=[why],
        consequence="a number would be a constant, and the gradient through it lost: JAX refuses",
        fixes=offered or ["compute with the array itself, with functions of jax.numpy"],
    )


def _asked(failure: Failure) -> list[Span]:
    file = failure.site.location.file
    first = next(site for site in failure.callers if site.location.file == file)
    return [] if first is failure.site or first.node is None else [first.span.labelled("asked here")]


def _name_of_jax_numpy(site: UserExpression) -> str:
    names = [bound for bound, module in site.source.imports.items() if module == "jax.numpy"]
    return names[0] if names else "jax.numpy"


def _of_jax_numpy(failure: Failure, call: ast.Call, name: str) -> list[str]:
    """The same call of a function of `jax.numpy`, tried on the shapes of its arguments."""
    site = failure.site
    function = call.func
    wanted = f"{_name_of_jax_numpy(site)}.{name}"
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
    site, call, name = failure.site, _call(failure.site), _name_called(failure.site)
    text = one_line(site.span.text)
    offered: list[str] = []
    if call is not None and isinstance(call.func, ast.Attribute) and hasattr(jnp, name):
        offered = _of_jax_numpy(failure, call, name)
    shown = text if len(text) <= 50 else f"{name or 'NumPy'}"
    return problem(
        "GT210",
        f"{shown}: a function of NumPy was given a traced array",
        spans=[site.span, *_asked(failure)],
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
    jnp_name = _name_of_jax_numpy(site)
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
    return problem(
        "GT210",
        f"{kind} {condition}: whether it is true is not known while JAX traces the function",
        spans=[site.span, *_asked(failure)],
        consequence="Python would take one branch for all values to come: JAX refuses",
        fixes=[*offered, advice],
    )


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
    jnp_name = _name_of_jax_numpy(site)
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
                offered.insert(0, Fix(text, True, site.source.span(outer)))
    return problem(
        "GT210",
        f"{one_line(site.span.text)}: how many elements a mask selects is not known while JAX traces the function",
        spans=[site.span, *_asked(failure)],
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
        stored = _storing_statement(source, line)
        spans.insert(0, stored or Span(made[1], line, None, None, "made here, inside the traced function", text, line))
    name = traced[1] if traced else "the traced function"
    return problem(
        "GT211",
        f"a value of {name} was kept after JAX had traced it",
        spans=spans,
        notes=["while JAX traces a function its values are no numbers; outside of it they mean nothing"],
        fixes=[f"return it from {name}, and keep what the call returns; with has_aux=True beside a loss"],
    )


def _storing_statement(source: Any, line: int) -> Span | None:
    """The statement of a line, and the value that it stores."""
    for node in ast.walk(source.tree) if source.tree is not None else ():
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) and node.lineno <= line <= (node.end_lineno or line):
            span: Span = source.span(node, "made and kept here, inside the traced function")
            return span
    return None


# -- what jax.grad is asked


def _explain_request(failure: Failure, failed: Any) -> Problem | None:
    """Integers, vectors and other things that `jax.grad` does not take or return a gradient of."""
    words, site = failure.words, failure.site
    if words.startswith("grad requires real- or complex-valued inputs") or "requires real-valued inputs" in words:
        return _integer_problem(failure)
    if words.startswith("Gradient only defined for scalar-output functions"):
        return _output_problem(failure, failed)
    if "valued outputs (output dtype" in words:
        returned = _returned_by(failed)
        return problem(
            "GT207",
            f"the function returns {words.rpartition('but got ')[2].partition('.')[0]}, and integers have no gradient",
            spans=[*([returned.labelled("returned here")] if returned else []), site.span],
            fixes="return a floating point number; the number of hits, an argmax or a rounded value has no derivative",
        )
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


def _returned_by(failed: Any) -> Span | None:
    code = getattr(user_function(getattr(failed, "function", None)), "__code__", None)
    return None if code is None else returned_span(code)


def _integer_problem(failure: Failure) -> Problem:
    site, call = failure.site, _call(failure.site)
    offered: list[str] = []
    for argument in [] if call is None else call.args:
        value = site.value(argument)
        if isinstance(argument, ast.Constant) and type(argument.value) is int:
            span = site.source.span(argument)
            offered = [Fix(f"{span.text}.0", True, span)]
            break
        if hasattr(value, "dtype") and np.dtype(value.dtype).kind in "iub" and isinstance(argument, ast.Name):
            span = site.source.span(argument)
            offered = [Fix(f"{span.text}.astype(float)", True, span)]
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
    return Fix(re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"\1.0", span.text), True, span)


def _output_problem(failure: Failure, failed: Any) -> Problem:
    words, site = failure.words, failure.site
    returned = _returned_by(failed)
    shape = re.search(r"Output had shape: (\(.*?\))", words)
    jnp_name = _name_of_jax_numpy(site)
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
        return problem("GT311", f"{title}; jax.grad differentiates one number", spans=spans, fixes=fix)
    offered: list[str] = []
    spans = [site.span]
    if returned is not None and returned.column is not None:
        spans.append(returned.labelled(f"returned here, with shape {shape[1]}"))
        text = one_line(returned.text)
        offered = [Fix(f"{jnp_name}.mean({text})", True, returned)]
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
    site, call = failure.site, _call(failure.site)
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
                offered = [Fix(f"{one_line(site.source.text(part.func))}({size})", True, span)]
        elif isinstance(part, ast.Constant):
            offered = [Fix(f"{_name_of_jax_numpy(site)}.full({wanted}, {span.text})", True, span)]
    return problem(
        "GT301",
        f"the cotangent has shape {given}, what it weighs has shape {wanted}",
        spans=[site.span],
        operands=operands,
        fixes=[*offered, f"give an array of shape {wanted}; jnp.ones_like(y) has that of the result y"],
    )


# -- rules of the user's own


def _explain_rule(failure: Failure, failed: Any) -> Problem | None:
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
            return problem(
                "GT302",
                f"{name} returns a gradient of shape {given}{which}, which has shape {wanted}",
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
    return [Fix(f"{names[0] if names else 'jax.numpy'}.sum({one_line(whole.text)})", True, whole)]


def _rule_that_failed(failure: Failure, failed: Any) -> Any:
    session = getattr(failed, "session", None) or getattr(failed, "program", None)
    rules = [] if session is None else [use.call.function for use in session.rules]
    named = [rule for rule in rules if getattr(rule, "__name__", "\0") in failure.words]
    return (named or rules or [None])[-1]


# -- writes, structures, transformations


def _explain_write(failure: Failure, failed: Any) -> Problem | None:
    """`x[0] = 1` on an array of JAX, which is immutable."""
    if "immutable" not in failure.words:
        return None
    site = failure.site
    source = site.source
    node: Any = site.node
    statement = None if node is None else source.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    offered: list[str] = []
    if isinstance(target, ast.Subscript) and isinstance(statement, ast.Assign | ast.AugAssign):
        array, index = one_line(source.text(target.value)), one_line(source.text(target.slice))
        value = one_line(source.text(statement.value))
        methods = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power", ast.Sub: "add"}
        method = "set" if isinstance(statement, ast.Assign) else methods.get(type(statement.op), "")
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Sub):
            value = f"-({value})"
        if method and isinstance(target.value, ast.Name | ast.Attribute):
            offered = [Fix(f"{array} = {array}.at[{index}].{method}({value})", True, source.span(statement))]
    span = site.span if statement is None else source.span(statement)
    return problem(
        "GT309",
        "an array of JAX is written to in place, and cannot be changed",
        spans=[span],
        consequence="x.at[index].set(value) gives a new array, through which gradients flow",
        fixes=offered or ["x = x.at[index].set(value), or .add(value)"],
    )


def _explain_structure(failure: Failure, failed: Any) -> Problem | None:
    """Branches, carries, trees and mapped axes that do not match."""
    words, site = failure.words, failure.site
    first = words.partition("\n")[0].rstrip(".:")
    shapes = shapes_in(words)
    if words.startswith("vmap got inconsistent sizes"):
        lines = [line.strip(" *;") for line in words.splitlines()[1:]]
        return problem(
            "GT110",
            "vmap maps over axes of different lengths",
            spans=[site.span],
            notes=lines[:4],
            fixes="in_axes=(0, None) for an argument that is the same for all examples",
        )
    if words.startswith(("cond branches", "scan body", "body_fun", "while_loop", "switch branches", "scan carry")):
        differ = f": {shapes[0]} and {shapes[1]}" if len(shapes) > 1 and shapes[0] != shapes[1] else ""
        return problem(
            "GT306",
            f"{first}{differ}",
            spans=[site.span],
            fixes="return the same shapes and dtypes everywhere: jnp.zeros_like, astype, broadcast_to help",
        )
    if "pytree structure error" in words or "pytree" in first or "Dict key mismatch" in words:
        return problem(
            "GT306",
            "two trees of arrays do not have the same structure",
            spans=[site.span],
            notes=[line.strip() for line in words.splitlines()[1:7] if line.strip()][:4],
            fixes="the same keys and lengths in both: jax.tree.structure(a) shows them",
        )
    return None


def _explain_argument(failure: Failure, failed: Any) -> Problem | None:
    """Arguments that are no arrays, or are not there."""
    words, site = failure.words, failure.site
    first = words.partition("\n")[0].rstrip(".")
    if "is not a valid JAX type" in words or "requires ndarray or scalar arguments" in words:
        advice = "arrays and numbers only: jnp.asarray(list); static_argnums, or a closure, for what is no array"
        return problem("GT314", first, spans=[site.span], fixes=advice)
    if "Non-hashable static arguments" in words:
        return problem("GT314", first, spans=[site.span], fixes="a tuple instead of a list; or not static")
    if words.startswith("differentiating with respect to argnums"):
        return problem("GT314", first, spans=[site.span], fixes="argnums counts positional arguments from 0")
    return None


_EXPLAINERS: tuple[Callable[[Failure, Any], Problem | None], ...] = (
    _explain_conversion,
    _explain_request,
    _explain_rule,
    _explain_write,
    _explain_structure,
    _explain_argument,
    _explain_shapes,
)


__all__ = ["explain", "shapes_in"]

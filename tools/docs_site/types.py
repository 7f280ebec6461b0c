"""The names of types that signatures use, each with what it stands for; a page of the reference."""

from __future__ import annotations

ALIASES = {
    "TensorLike": (
        "Array | bool | int | float | complex | Sequence[Any]",
        "What a function computes with: a tensor, a NumPy array, a number, a nested sequence of these, or an object "
        "that NumPy can read as an array.",
    ),
    "Array": (
        "numpy.ndarray | gradtape.Tensor",
        "A NumPy array, a tensor, or what stands for one while a function is traced or mapped over a batch.",
    ),
    "Axis": ("int | tuple[int, ...] | None", "One axis, several, or all of them. Negative numbers count from the end."),
    "ShapeLike": ("int | Sequence[int]", "One length, or one for each axis."),
    "IndexLike": (
        "int | slice | EllipsisType | Array | None | tuple",
        "What may stand in `x[...]`: integers, slices, `None`, `...`, arrays of integers or booleans, and tuples of "
        "these.",
    ),
    "DTypeLike": (
        "numpy.typing.DTypeLike | None",
        "A dtype, a class or a name that stands for one, or None for the dtype that follows from the operands.",
    ),
    "Shape": ("tuple[int, ...]", "A length for each axis."),
    "Lengths": ("tuple[int, ...]", "A length for each axis of a window or an image."),
    "Size": ("int | tuple[int, ...] | None", "The shape of a draw; None for that of the parameters."),
    "Place": ("int | slice | Sequence[int]", "Where along an axis something is put in or left out."),
    "Initialiser": ("Callable[..., Any]", "What `gt.nn.init` has: a function of a shape that draws first values."),
    "Schedule": ("Callable[[Any], Any]", "A step size as a function of the number of steps; see `gt.optim.schedules`."),
    "Group": (
        "tuple[str | Callable[[str, Any], bool], dict[str, Any]]",
        "Options for some parameters: a pattern for their names, or a function of name and value, and the options.",
    ),
    "Callback": ("Callable[[int, dict[str, float]], Any]", "Called after each epoch with its number and its logs."),
    "Partial": ("Callable[..., Any] | float | None", "A derivative by one operand: a function, a number, or none."),
    "Function": ("Callable[..., Any]", "A function of yours. It takes and returns nested structures of arrays."),
}
"""The aliases, each with its definition and its meaning."""


RESULTS = {
    "History": "gradtape.training.history:History",
    "Compiled": "gradtape.jit.api:Compiled",
    "Timeline": "gradtape.jit.diagnostics.timeline:Timeline",
    "TimedStep": "gradtape.jit.diagnostics.timeline:TimedStep",
    "SparseDerivative": "gradtape.transforms.sparse.derivative:SparseDerivative",
    "Integral": "gradtape.quadrature:Integral",
    "Report": "gradtape.explain.report.page:Report",
    "Coverage": "gradtape.explain.queries.coverage:Coverage",
    "FileLine": "gradtape.explain.queries.coverage:FileLine",
    "SavedValue": "gradtape.explain.queries.saved:SavedValue",
    "Saved": "gradtape.explain.queries.saved:Saved",
    "Step": "gradtape.explain.model.why:Step",
    "Leak": "gradtape.checking.audit_batch:Leak",
    "BatchAudit": "gradtape.checking.audit_batch:BatchAudit",
    "Comparison": "gradtape.checking.report:Comparison",
    "Watching": "gradtape.watching:Watching",
    "Hook": "gradtape.nn.module:Hook",
    "FlatElements": "gradtape.numpy_dispatch.array_methods:FlatElements",
    "EigResult": "gradtape.ops.eigen:EigResult",
    "EighResult": "gradtape.ops.eigen:EighResult",
    "SlogdetResult": "gradtape.ops.determinants:SlogdetResult",
}
"""What public functions return, by name and by where it is made. No program makes one by itself."""


def page() -> str:
    """The page of the types, in Markdown."""
    parts = [
        "# Types",
        "The names of types in the signatures of this reference. Nothing of them is checked when a program runs by the "
        "type itself: functions check what they are given, and say which line gave what.",
        "A *structure* is any nesting of lists, tuples, dictionaries and dataclasses with arrays or numbers in it; "
        "functions that take one (`sources`, `params`, `x0`) return results of the same structure.",
    ]
    for name, (definition, about) in ALIASES.items():
        parts.append(f"````{{py:type}} gradtape.types.{name}\n:canonical: {definition}\n\n{about}\n````")
    return "\n\n".join(parts) + "\n"

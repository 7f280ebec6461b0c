"""Detector: a function of another library (SciPy, scikit-learn, `math`, `numpy.random`) was given a tensor.

These functions compute with bare arrays or floats. The function is identified by the call in the user's source; if that
cannot be read (`table[key](x)`), by the frame just inside the call. The fix is gradtape's function that does the same.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Iterable
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.location import is_library, is_own_module
from gradtape.explain.fixes.import_edits import fixes_by_import, import_from_our_scipy
from gradtape.explain.model.problem import Fix, source_edit
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.expression import UserExpression, replace_span
from gradtape.explain.source.files import one_line

TITLES = {"scipy": "SciPy", "numpy": "NumPy", "sklearn": "scikit-learn", "pandas": "pandas", "math": "Python"}
_SHARED_MODULES = ("special", "linalg", "signal", "stats", "fft", "optimize")  # what gradtape has as SciPy does
_OTHER_PATHS = {
    "integrate.trapezoid": "trapezoid",
    "integrate.odeint": "odeint",
    "integrate.simpson": "quadrature.simpson",
}
_ADVICE = {
    "scipy.integrate.solve_ivp": "gt.odeint(f, y0, t, tfirst=True) solves it, with a gradient",
    "scipy.integrate.quad": "gt.quad(f, a, b, args=(x,)) integrates it, with a gradient by what is passed in args",
}
_MATH_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "pow": "power",
    "fabs": "abs",
    "fsum": "sum",
    "lgamma": "gammaln",
    "erf": "erf",
    "erfc": "erfc",
    "gamma": "gamma",
}
_NEEDS_A_LIST = frozenset(["fsum", "prod", "dist", "hypot"])
# Where SciPy means something else by default: the argument, what is written for each of its values, and its default.
_OTHER_DEFAULTS: dict[str, tuple[str, dict[Any, str], Any]] = {
    "linalg.cholesky": ("lower", {True: "", False: "upper=True"}, False),
    "linalg.qr": ("mode", {"economic": "", "full": 'mode="complete"'}, "full"),
}
_WITHOUT_EFFECT = frozenset(["overwrite_a", "overwrite_b", "check_finite", "overwrite_ab", "overwrite_x"])


_EXPLAIN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # the package gradtape.explain


class ForeignCall(NamedTuple):
    """A function of another library: its full name, and the call in the user's source."""

    name: str
    call: ast.Call | None
    site: UserExpression

    @property
    def library(self) -> str:
        """The name of the library as its documentation writes it."""
        root = self.name.partition(".")[0]
        return TITLES.get(root, root)

    @property
    def takes_no_tensors(self) -> bool:
        """Whether it does not dispatch on tensors: all libraries but NumPy, and a few functions of NumPy."""
        return not self.name.startswith("numpy.") or self.name.startswith(
            ("numpy.random.", "numpy.vectorize", "numpy.nditer")
        )

    def fixes(self) -> list[str]:
        """The same call with gradtape's function, if one takes these arguments; otherwise advice."""
        if self.name == "numpy.vectorize":
            advice = "np.where(condition, a, b) chooses element by element, and NumPy's functions take whole tensors"
            return [*fixes_by_import(self.site), advice]
        if self.name == "numpy.nditer":
            advice = "for element in x.reshape(-1): its elements are tensors with their gradients"
            return [*fixes_by_import(self.site), advice]
        ours = counterpart(self.name)
        written = None if self.call is None else _rewrite_call(self, ours)
        if written is not None and self.call is not None:
            return [source_edit(written, self.site.source.span(self.call))]
        by_import = self.fixes_by_import()
        if self.name in _ADVICE:
            return [*by_import, _ADVICE[self.name]]
        if ours and not by_import:
            return [f"{_spell(self.site, ours)} is the same function for tensors"]
        return by_import or [
            "compute it with NumPy's functions (np.exp, np.sum, ...), which take tensors",
            "gt.custom_vjp gives a function of your own, with this call in it, a derivative",
        ]

    def fixes_by_import(self) -> list[str]:
        """The import of a function of SciPy's from `gradtape.scipy`, if it has a gradient there."""
        if not self.name.startswith("scipy.") or not _has_gradient_here(self.name):
            return []
        written = "" if self.call is None else import_from_our_scipy(self.site, self.call.func)
        return [written or f"gradtape.{self.name} is the same function for tensors"]


def counterpart(name: str) -> str:
    """The function of gradtape that does what `name` does, without the leading "gt."; empty if there is none.

    >>> counterpart("scipy.special.logsumexp"), counterpart("math.atan"), counterpart("scipy.ndimage.zoom")
    ('special.logsumexp', 'arctan', '')
    """
    root, _, rest = name.partition(".")
    if root == "math":
        found = _MATH_NAMES.get(rest, rest)
        return found if hasattr(np, found) or _gradtape_function(found) is not None else ""
    if root == "numpy" and rest.startswith("random."):
        return rest if _gradtape_function(rest) is not None else ""
    if root == "scipy":
        rest = _OTHER_PATHS.get(rest, rest)
        part = rest.partition(".")[0]
        return (
            rest
            if (part in _SHARED_MODULES or rest in _OTHER_PATHS.values()) and _gradtape_function(rest) is not None
            else ""
        )
    return ""


def _gradtape_function(path: str) -> Any:
    import gradtape

    found: Any = gradtape
    for part in path.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None


def _has_gradient_here(name: str) -> bool:
    """Whether `gradtape.scipy` has a function, class or distribution of its own for one of SciPy's."""
    import gradtape

    found: Any = gradtape
    for part in name.split("."):
        found = getattr(found, part, None)
        kind = found if callable(found) and hasattr(found, "__module__") else type(found)
        if not isinstance(found, ModuleType | None) and is_own_module(getattr(kind, "__module__", None) or ""):
            return True
    return False


def _spell(site: UserExpression, ours: str) -> str:
    return site.source.spelled(ours, "numpy" if _is_numpys(ours) else "gradtape")


def _is_numpys(ours: str) -> bool:
    """Whether NumPy has the function by the same name."""
    return "." not in ours and hasattr(np, ours)


# -- which function it was


def find_foreign_call(site: UserExpression) -> ForeignCall | None:
    """The function of another library that the user's expression calls; None if it calls none that is known."""
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    call = node if isinstance(node, ast.Call) else None
    name = "" if call is None else _name_in_source(site, call.func)
    if not name and call is not None:
        name = _name_on_stack(site)
    return ForeignCall(name, call, site) if name else None


def _name_in_source(site: UserExpression, function: ast.expr) -> str:
    """The full name of a function in the source, by the imports, otherwise by the value of its name."""
    path: list[str] = []
    root = function
    while isinstance(root, ast.Attribute):
        path.insert(0, root.attr)
        root = root.value
    if isinstance(root, ast.Name):
        whole = site.source.imports.get(root.id, "")
        value = site.value(root)
        if whole and (isinstance(value, ModuleType) or not path or whole.partition(".")[0] in TITLES):
            return _public_name(".".join([whole, *path]))
        return _name_of_value(value, path)
    if isinstance(root, ast.Call) and not path and _name_in_source(site, root.func) == "numpy.vectorize":
        return "numpy.vectorize"
    if isinstance(root, ast.Call) and path:  # norm(0.0, 1.0).logpdf, default_rng(0).normal
        maker = _name_in_source(site, root.func)
        return ".".join([_method_owner(maker), *path]) if maker else ""
    return ""


def _method_owner(maker: str) -> str:
    """The name that holds the methods of what `maker` returns: `numpy.random` for generators, else `maker`."""
    return "numpy.random" if maker in ("numpy.random.default_rng", "numpy.random.RandomState") else maker


def _name_of_value(value: Any, path: list[str]) -> str:
    """The full name of a function that is the value of a name, or of a method of an object that is."""
    if path:
        kind = type(value)
        module = getattr(kind, "__module__", "") or ""
        if module.startswith("numpy.random"):
            return ".".join(["numpy.random", *path])
        if module.partition(".")[0] not in TITLES:
            return ""
        maker = getattr(getattr(value, "dist", value), "name", "")  # a distribution of scipy.stats, frozen or not
        return ".".join(
            [_public_name(f"{module}.{maker if isinstance(maker, str) and maker else kind.__name__}"), *path]
        )
    if isinstance(value, np.vectorize):
        return "numpy.vectorize"
    module, name = getattr(value, "__module__", "") or "", getattr(value, "__name__", "")
    return _public_name(f"{module}.{name}") if module.partition(".")[0] in TITLES and name else ""


def _public_name(name: str) -> str:
    """`scipy.special.logsumexp` for `scipy.special._logsumexp.logsumexp`; empty for gradtape and builtins."""
    parts = name.split(".")
    if is_own_module(name) or parts[0] in ("builtins", ""):
        return ""
    return ".".join(part for part in parts if not part.startswith("_"))


def _name_on_stack(site: UserExpression) -> str:
    """The name of the function of a library that is running just inside the user's expression."""
    for frame in reversed(list(_frames_up_to(site.frame))):
        module = frame.f_globals.get("__name__", "")
        root = module.partition(".")[0]
        if root in TITLES and root != "numpy" and (name := _public_name(f"{module}.{frame.f_code.co_name}")):
            owner = sys.modules.get(name.rpartition(".")[0])
            if hasattr(owner, frame.f_code.co_name):  # not a wrapper
                return name
    return ""


def _frames_up_to(user: FrameType | None) -> Iterable[FrameType]:
    """The frames from this one up to the user's, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not user:
        yield frame
        frame = frame.f_back


def expression_outside_packages() -> UserExpression:
    """The innermost expression outside of installed packages: one of them may have called gradtape."""
    innermost = site = UserExpression.present()
    frame = site.frame
    while frame is not None and (is_library(frame.f_code.co_filename) or "-packages" in frame.f_code.co_filename):
        frame = frame.f_back
    return innermost if frame is None or frame is innermost.frame else UserExpression(frame)


# -- what to write instead


def fixes_for_math_argument(site: UserExpression, call: ast.Call) -> list[str]:
    """`sum(map(np.sin, x))` for `sum(map(math.sin, x))`: the call with NumPy's function for that of `math`."""
    whole = site.source.span(call)
    for part in ast.walk(call):
        if not isinstance(part, ast.Attribute | ast.Name) or part is call.func:
            continue
        name = _name_in_source(site, part)
        if name.startswith("math.") and (ours := counterpart(name)) and ours not in ("pi", "e", "inf", "nan"):
            written = replace_span(whole, site.source.span(part), _spell(site, ours))
            return [] if written is None else [source_edit(written, whole)]
    return []


def fixes_for_method(site: UserExpression) -> list[Fix]:
    """`np.dot(X, w)` for `X.dot(w)`, where X is a NumPy array, whose methods do not dispatch on tensors."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return []
    owner, name = call.func.value, call.func.attr
    if name not in ("dot", "take", "clip", "searchsorted", "repeat", "choose", "compress") or site.is_module(owner):
        return []
    value = site.value(owner)
    inside = [frame for frame in _frames_up_to(site.frame) if not frame.f_code.co_filename.startswith(_EXPLAIN)]
    if not isinstance(value, np.ndarray) and [frame.f_code.co_name for frame in inside] != ["__array__"]:
        return []
    whole = site.source.span(call)
    texts = [one_line(site.source.text(part)) for part in (owner, *call.args)]
    texts += [f"{keyword.arg}={one_line(site.source.text(keyword.value))}" for keyword in call.keywords if keyword.arg]
    return [source_edit(f"{site.source.spelled(name)}({', '.join(texts)})", whole)]


def fixes_for_sparse_matrix(site: UserExpression) -> list[str] | None:
    """`S @ x` for `S.dot(x)`, `S.toarray() * x` for the product of elements; None if there is no sparse matrix.

    SciPy hands `S @ x` back to the tensor; of these it converts the operand itself.
    """
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    written_to = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", node)
    if isinstance(written_to, ast.Subscript) and _is_sparse(site, written_to.value):
        return ["make the matrix with gradtape.scipy.sparse: tensors may be written to its elements"]
    if isinstance(node, ast.BinOp):
        parts: list[ast.expr] = [node.left, node.right]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("dot", "multiply"):
        parts = [node.func.value]
    else:
        return None
    sparse = next((part for part in parts if _is_sparse(site, part)), None)
    if sparse is None:
        return None
    whole, part = site.source.span(node), site.source.span(sparse)
    written = replace_span(whole, part, f"{one_line(part.text)}.toarray()")
    if isinstance(node, ast.Call):
        if len(node.args) != 1 or node.keywords:
            return None
        other, owner = one_line(site.source.span(node.args[0]).text), one_line(part.text)
        is_dot = isinstance(node.func, ast.Attribute) and node.func.attr == "dot"
        written = f"{owner} @ {other}" if is_dot else f"{owner}.toarray() * {other}"
    return [
        *([] if written is None else [source_edit(written, whole)]),
        "with gradtape.scipy.sparse, x * S of a sparse array has a derivative and keeps the matrix sparse",
    ]


def _is_sparse(site: UserExpression, part: ast.expr) -> bool:
    if isinstance(part, ast.Call):
        return _name_in_source(site, part.func).startswith("scipy.sparse.")
    return type(site.value(part)).__module__.startswith("scipy.sparse")


def _rewrite_call(found: ForeignCall, ours: str) -> str | None:
    """The call with gradtape's function in the place of the other library's, if it takes the arguments."""
    call, source = found.call, found.site.source
    if not ours or call is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if any(keyword.arg is None for keyword in call.keywords) or library_of(source.imports)[0]:
        return None
    if not source.can_call_gradtape and not _is_numpys(ours):
        return None
    given = [one_line(source.text(argument)) for argument in call.args]
    named = {str(keyword.arg): one_line(source.text(keyword.value)) for keyword in call.keywords}
    named = {name: text for name, text in named.items() if name not in _WITHOUT_EFFECT}
    if ours.startswith("random."):
        generator = _generator_text(found)
        given = [generator or "np.random.default_rng()", *given]
    elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):  # norm(m, s).logpdf(x)
        maker = call.func.value
        if not ours.startswith("stats.") or any(keyword.arg is None for keyword in maker.keywords):
            return None
        given += [one_line(source.text(argument)) for argument in maker.args]
        named |= {str(keyword.arg): one_line(source.text(keyword.value)) for keyword in maker.keywords}
    elif ours.startswith("stats.") and _is_frozen_distribution(found):
        return None
    added: list[str] = []
    if ours in _OTHER_DEFAULTS and found.name.startswith("scipy."):
        argument, meanings, default = _OTHER_DEFAULTS[ours]
        try:
            value = ast.literal_eval(named.pop(argument, repr(default)))
        except (ValueError, SyntaxError):
            return None
        if value not in meanings:
            return None
        added = [meanings[value]] if meanings[value] else []
    name = found.name.rpartition(".")[2]
    if found.name.startswith("math."):
        if named or (name in _NEEDS_A_LIST and len(given) > 1):
            return None
    elif not _accepts(ours, len(given), [*named, *(text.partition("=")[0] for text in added)], found.name):
        return None
    arguments = [*given, *(f"{name}={text}" for name, text in named.items()), *added]
    return f"{_spell(found.site, ours)}({', '.join(arguments)})"


def _generator_text(found: ForeignCall) -> str:
    """The generator whose method was called, as it is written; empty for a function of `numpy.random` itself."""
    function = None if found.call is None else found.call.func
    if not isinstance(function, ast.Attribute):
        return ""
    is_module = isinstance(found.site.value(function.value), ModuleType) or _name_in_source(
        found.site, function.value
    ).startswith("numpy.random")
    if isinstance(function.value, ast.Call):
        is_module = False
    return "" if is_module else one_line(found.site.source.text(function.value))


def _is_frozen_distribution(found: ForeignCall) -> bool:
    """Whether the method is one of a distribution that has its parameters already."""
    function = None if found.call is None else found.call.func
    value = found.site.value(function.value) if isinstance(function, ast.Attribute) else None
    return hasattr(value, "dist") or "frozen" in type(value).__name__


def _accepts(ours: str, count: int, names: Iterable[str], theirs: str) -> bool:
    """Whether gradtape's function takes so many arguments and these names, each in the place that it has in theirs."""
    function = _gradtape_function(ours)
    try:
        signature = inspect.signature(function)
        signature.bind(*[None] * count, **dict.fromkeys(names))
    except (TypeError, ValueError):
        return False
    if ours.startswith("random."):  # the generator is one more argument there
        return True
    other: Any = sys.modules.get(theirs.rpartition(".")[0])
    try:
        those = list(inspect.signature(getattr(other, theirs.rpartition(".")[2])).parameters)
    except (TypeError, ValueError, AttributeError):
        return True
    these = list(signature.parameters)
    return all(one == another for one, another in list(zip(these, those))[1:count] if one != "b")


__all__ = [
    "ForeignCall",
    "counterpart",
    "expression_outside_packages",
    "find_foreign_call",
    "fixes_for_math_argument",
    "fixes_for_method",
    "fixes_for_sparse_matrix",
]

"""The public names of gradtape, grouped for docs/api.md and for the pages of the reference."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from types import ModuleType
from typing import Any

import gradtape
from tools.docs_site.types import RESULTS

NAMES = sorted(gradtape.__all__)
NAMESPACES = [
    "bridges",
    "distributed",
    "implicit",
    "nn",
    "nn.functional",
    "optim",
    "optimize",
    "quadrature",
    "random",
    "signal",
    "special",
    "stats",
]
"""Those whose names have a line in docs/api.md."""

SECTIONS = {
    "Tensors": "tensor Tensor Variable",
    "Tapes": "GradientTape ForwardAccumulator",
    "The graph behind `.backward()`": "gradients no_grad enable_grad stop_gradient",
    "Functions of functions": "grad value_and_grad vjp jvp linearize jacobian jacrev jacfwd hessian hvp vmap",
    "Sparse derivatives": "sparse_jacobian sparse_hessian",
    "Rules of your own, and recomputing": "custom_vjp custom_jvp custom_gradient checkpoint",
    "Compiling, and loops": "jit scan fori_loop while_loop",
    "Training": "fit EarlyStopping",
    "Differential equations and integrals": "odeint quad",
    "Other libraries' arrays": "from_dlpack from_torch to_torch",
    "Checking": "gradcheck audit_batch check_numerics expect watch load_ipython_extension GradcheckReport",
    "Settings": "config",
}
CHAPTERS = {
    "elementwise": "arithmetic, powers, exponentials, trigonometry, choices",
    "conversion": "real, complex, dtypes, and off the tape",
    "comparison": "rounding, signs, comparison, logic and bits",
    "reductions": "sums, means, products and extremes along axes",
    "cumulative": "running sums and products, and differences",
    "sorting": "sorting, and what is found by sorting",
    "shaping": "shapes and the order of axes",
    "joining": "joining and splitting",
    "rearranging": "turning, shifting, repeating and masking",
    "padding": "margins around arrays",
    "insertion": "putting in, leaving out, laying out anew",
    "creation_from": "tensors built of lists, blocks, functions and ranges",
    "selection": "choices by conditions, and functions applied slice by slice",
    "indexing": "reading elements",
    "indexed_update": "writing elements",
    "inplace": "functions that write into their first argument",
    "searching": "positions, memberships and distinct elements",
    "histograms": "counting into bins",
    "nan_reductions": "reductions that pass over nan, newer names of running sums",
    "covariance": "covariance and correlation",
    "numerics": "interpolation, convolution, slopes on a grid, phases, parts of numbers",
    "polynomials": "polynomials by their coefficients",
    "introspection": "what is asked about arrays, and indices",
    "products": "products of vectors and matrices, diagonals and norms",
    "einsum": "sums of products by Einstein's convention",
    "softmax": "the softmax family and activations",
    "creation": "new tensors",
}


def doc_of(value: Any) -> str:
    """The docstring of `value`, without its indentation."""
    return inspect.getdoc(value) or ""


def chapters_of_the_table() -> list[str]:
    """The modules of `gradtape.ops`, by their names in it."""
    prefix = "gradtape.ops."
    return [module.name.removeprefix(prefix) for module in pkgutil.walk_packages(gradtape.ops.__path__, prefix)]


def is_defined_in(module: ModuleType, name: str) -> bool:
    """Whether `name` is made in `module` and not just imported there."""
    return re.search(rf"^(def |class )?{name}( =|\(|:)", inspect.getsource(module), re.MULTILINE) is not None


def sections() -> dict[str, list[str]]:
    """The public names by the headings that they stand under; what fits nowhere is under the last."""
    found = {title: names.split() for title, names in SECTIONS.items()}
    left = [name for name in NAMES if not any(name in names for names in found.values())]
    errors = [name for name in left if name.endswith(("Error", "Warning"))]
    left = [name for name in left if name not in errors]
    for chapter in [*CHAPTERS, *(c for c in chapters_of_the_table() if c not in CHAPTERS)]:
        module = importlib.import_module(f"gradtape.ops.{chapter}")
        topic = CHAPTERS.get(chapter) or f"{doc_of(module)[0].lower()}{first_line(module)[1:].rstrip('.')}"
        names = [name for name in left if is_defined_in(module, getattr(gradtape, name).__name__)]
        left = [name for name in left if name not in names]
        found[f"Operations: {topic}"] = names
    return {**found, "Errors and warnings": errors, "Without a section": left}


def first_line(value: Any) -> str:
    """The first line of the docstring of `value`, as a cell of a table in Markdown."""
    return doc_of(value).partition("\n")[0].replace("|", "\\|")


# -- the pages of the reference


@dataclass(frozen=True)
class Group:
    """One page of the reference: its place, its title, what it is about, and its names under headings."""

    place: str
    title: str
    about: str
    parts: dict[str, list[str]]  # heading -> names, qualified from gradtape on

    @property
    def names(self) -> list[str]:
        """All names of the page."""
        return [name for names in self.parts.values() for name in names]


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


def _home(space: str, name: str) -> ModuleType | None:
    """The module that a name of a namespace is made in, of those that its heading may come from."""
    value = attrgetter(f"{space}.{name}")(gradtape)
    module = getattr(value, "__module__", None)
    return importlib.import_module(module) if module and module.startswith("gradtape.") else None


def _title_of(module: ModuleType) -> str:
    """What the first sentence of the docstring of a module says, as a heading."""
    line = doc_of(module).partition("\n")[0].rstrip(".")
    return re.split(r": |\. |; |, (?:with|which|through|and the (?:solutions|functions)) ", line)[0]


def _by_module(space: str, names: list[str]) -> dict[str, list[str]]:
    """Names under the titles of the modules in which they are made."""
    found: dict[str, list[str]] = {}
    for name in names:
        home = _home(space, name)
        title = "Activations" if home is None or home.__name__ == "gradtape.core.operation" else _title_of(home)
        found.setdefault(title, []).append(f"{space}.{name}")
    return found


def _special() -> dict[str, list[str]]:
    """The names of `gt.special` by chapter."""
    from gradtape.ops import special

    left = list(special.__all__)
    found: dict[str, list[str]] = {}
    chapters = [module.name for module in pkgutil.iter_modules(special.__path__, "gradtape.ops.special.")]
    for home in [*chapters, "gradtape.ops.elementwise", "gradtape.ops.softmax"]:
        module = importlib.import_module(home)
        names = [name for name in left if hasattr(module, name) and is_defined_in(module, name)]
        left = [name for name in left if name not in names]
        if names:
            found[_title_of(module)] = [f"special.{name}" for name in names]
    if left:
        found["Other functions"] = [f"special.{name}" for name in left]
    return found


def _headings_of_extend() -> Iterator[tuple[str, str]]:
    """The headings in the docstring of `gradtape.extend`, each with the lines below it."""
    from gradtape import extend

    pieces = re.split(r"\n\n(?=[A-Z][^\n]{3,80}\n\n\w)", doc_of(extend))
    for piece in pieces[1:]:
        heading, _, lines = piece.partition("\n\n")
        yield heading, lines


def _extend() -> dict[str, list[str]]:
    """The names of `gt.extend` by the headings of its docstring."""
    from gradtape import extend

    left = set(extend.__all__)
    found: dict[str, list[str]] = {}
    for heading, lines in _headings_of_extend():
        first = re.findall(r"^(\S.*?)(?:\s{2,}|$)", lines, re.MULTILINE)
        names = [word for line in first for word in re.findall(r"[A-Za-z_]\w+", re.sub(r"\([^)]*\)", "", line))]
        listed = [name for name in dict.fromkeys(names) if name in left]
        left -= set(listed)
        if listed:
            found[heading] = [f"extend.{name}" for name in listed]
    if left:
        found["Others"] = [f"extend.{name}" for name in sorted(left)]
    return found


def description_in_extend(name: str) -> str:
    """What the docstring of `gradtape.extend` says of one of its names; empty if it names it in passing only."""
    for _, lines in _headings_of_extend():
        for named, about in re.findall(r"^(\S.*?)\s{2,}(\S.*(?:\n\s{10,}\S.*)*)", lines, re.MULTILINE):
            if name in re.findall(r"\w+", re.sub(r"\([^)]*\)", "", named)):
                return " ".join(about.split())
    return ""


def _plain(space: str, names: list[str] | None = None) -> dict[str, list[str]]:
    module = attrgetter(space)(gradtape)
    names = list(module.__all__) if names is None else names
    kept = [name for name in names if not isinstance(getattr(module, name), ModuleType)]
    return {"": [f"{space}.{name}" for name in kept]}


def namespaces() -> list[Group]:
    """The pages of the namespaces."""
    from gradtape.ops import fft

    layers = [name for name in gradtape.nn.__all__ if not isinstance(getattr(gradtape.nn, name), ModuleType)]
    transforms = sorted(
        name for name in dir(fft) if not name.startswith("_") and inspect.isfunction(getattr(fft, name, None))
        and getattr(fft, name).__module__ == fft.__name__ and "fft" in name
    )  # fmt: skip
    return [
        Group("reference/nn.md", "gt.nn: layers", "nn", _by_module("nn", layers)),
        Group(
            "reference/nn-functional.md",
            "gt.nn.functional: layers as functions",
            "nn.functional",
            _by_module("nn.functional", list(gradtape.nn.functional.__all__)),
        ),
        Group("reference/nn-init.md", "gt.nn.init: first values of parameters", "nn.init", _plain("nn.init")),
        Group(
            "reference/optim.md",
            "gt.optim: optimisers and schedules",
            "optim",
            {"Optimisers": _plain("optim")[""], "Schedules": _plain("optim.schedules")[""]},
        ),
        Group("reference/optimize.md", "gt.optimize: minima, roots, fits", "optimize", _plain("optimize")),
        Group("reference/implicit.md", "gt.implicit: derivatives of solutions", "implicit", _plain("implicit")),
        Group("reference/quadrature.md", "gt.quadrature: integrals", "quadrature", _plain("quadrature")),
        Group("reference/linalg.md", "gt.linalg: linear algebra", "linalg", _plain("linalg")),
        Group("reference/fft.md", "gt.fft: Fourier transforms", "fft", _plain("fft", transforms)),
        Group("reference/signal.md", "gt.signal: convolution and filters", "signal", _plain("signal")),
        Group("reference/special.md", "gt.special: special functions", "special", _special()),
        Group("reference/random.md", "gt.random: random numbers", "random", _plain("random")),
        Group("reference/stats.md", "gt.stats: distributions", "stats", _plain("stats")),
        Group("reference/explain.md", "gt.explain: explanations", "explain", _plain("explain")),
        Group("reference/distributed.md", "gt.distributed: beyond one machine", "distributed", _plain("distributed")),
        Group("reference/bridges.md", "gt.bridges: inside other libraries", "bridges", _plain("bridges")),
        Group("reference/results.md", "What functions return", "results", {"": list(RESULTS)}),
        Group("reference/extend.md", "gt.extend: for packages on top", "extend", _extend()),
    ]


TOP_LEVEL = {
    "reference/tensors.md": ("Tensors", ["Tensors"]),
    "reference/tapes.md": ("Tapes and backward", ["Tapes", "The graph behind `.backward()`"]),
    "reference/transforms.md": (
        "Transforms",
        ["Functions of functions", "Sparse derivatives", "Rules of your own, and recomputing"],
    ),
    "reference/compiling.md": ("Compiling, and loops", ["Compiling, and loops"]),
    "reference/solving.md": ("Training and solving", ["Training", "Differential equations and integrals"]),
    "reference/checking.md": ("Checking and settings", ["Checking", "Settings", "Other libraries' arrays"]),
    "reference/errors.md": ("Errors and warnings", ["Errors and warnings"]),
}
"""The pages of the names of `gradtape` itself that are no operations, with their sections."""


OPERATIONS = {
    "ops-elementwise": ("Elementwise operations", "elementwise"),
    "ops-comparison": ("Rounding, comparison, logic", "comparison"),
    "ops-conversion": ("Real, complex, dtypes", "conversion"),
    "ops-reductions": ("Reductions", "reductions cumulative nan_reductions histograms covariance"),
    "ops-shapes": ("Shapes and joining", "shaping joining rearranging padding insertion"),
    "ops-elements": ("Reading, writing, sorting", "indexing indexed_update inplace selection searching sorting"),
    "ops-products": ("Products and einsum", "products einsum"),
    "ops-numerics": ("Interpolation and polynomials", "numerics polynomials"),
    "ops-softmax": ("Softmax and activations", "softmax"),
    "ops-creation": ("New tensors", "creation creation_from introspection"),
}
"""The pages of operations, with their titles and chapters."""


def top_level() -> list[Group]:
    """The pages of the names of `gradtape` itself."""
    found = {title: names for title, names in sections().items() if names}
    groups = []
    for place, (title, headings) in TOP_LEVEL.items():
        groups.append(Group(place, title, "", {heading: found.pop(heading) for heading in headings}))
    for place, (title, chapters) in OPERATIONS.items():
        topics = [CHAPTERS[chapter] for chapter in chapters.split()]
        parts = {topic[0].upper() + topic[1:]: found.pop(f"Operations: {topic}") for topic in topics}
        groups.append(Group(f"reference/{place}.md", title, "ops", parts))
    for heading, names in found.items():  # a new chapter
        topic = heading.removeprefix("Operations: ")
        groups.append(Group(f"reference/ops-{_slug(topic)}.md", topic[0].upper() + topic[1:], "ops", {"": names}))
    return groups


def groups() -> list[Group]:
    """All pages of the reference."""
    return [*top_level(), *namespaces()]


def full_name(qualified: str) -> str:
    """The name of an entry: with the package in front, unless it is a result, which is reached through a function."""
    return qualified if qualified in RESULTS else f"gradtape.{qualified}"


def value_of(qualified: str) -> Any:
    """The object behind a name, which is qualified from gradtape on: `nn.Linear`."""
    if qualified in RESULTS:
        return pkgutil.resolve_name(RESULTS[qualified])
    return attrgetter(qualified)(_ROOT)


class _Root:
    """gradtape, and the module that is imported for its own sake: `gradtape.extend`."""

    def __getattr__(self, name: str) -> Any:
        return importlib.import_module(f"gradtape.{name}") if name in ("extend", "explain") else getattr(gradtape, name)


_ROOT = _Root()

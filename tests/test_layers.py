"""The layers of the package: which package may import which, and that no import closes a cycle.

The modules are parsed, not imported. Only imports at module level count as edges; imports for type checkers do not, and
imports inside functions are counted where they close a cycle between packages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent / "gradtape"

LAZY_CYCLES_AT_MOST = 35
"""How many imports inside functions close a cycle between packages. This number may only fall."""


class Import(NamedTuple):
    """One module imports another; lazily, if the statement is inside a function."""

    importer: str
    imported: str
    is_lazy: bool


def name_of(path: Path) -> str:
    """The dotted name of the module in a file."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports_of(module: str, text: str, is_package: bool) -> Iterator[Import]:
    """The imports of gradtape's own modules in the source of one of them."""

    def visit(statement: ast.AST, is_lazy: bool) -> Iterator[Import]:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            for other in statement.orelse:
                yield from visit(other, is_lazy)
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                yield from imported(alias.name, is_lazy)
        elif isinstance(statement, ast.ImportFrom):
            base = absolute(statement)
            for alias in statement.names:
                submodule = f"{base}.{alias.name}"
                yield from imported(submodule if submodule in MODULES else base, is_lazy)
        else:
            inside = is_lazy or isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(statement):
                yield from visit(child, inside)

    def absolute(statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        parts = module.split(".")
        parts = parts[: len(parts) - statement.level + is_package]
        return ".".join([*parts, *([statement.module] if statement.module else [])])

    def imported(name: str, is_lazy: bool) -> Iterator[Import]:
        if name.partition(".")[0] == "gradtape":
            yield Import(module, name, is_lazy)

    yield from visit(ast.parse(text), False)


IMPORTS = [
    found
    for name, path in MODULES.items()
    for found in {*imports_of(name, path.read_text(encoding="utf-8"), path.name == "__init__.py")}
]


def package_of(module: str) -> str:
    """The package or module at the top level that a module belongs to; "gradtape" for the top level itself."""
    return module.split(".")[1] if "." in module else module


def part_of(module: str) -> str:
    """The part of its package that a module belongs to: `emit` for `gradtape.explain.emit.policy`."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 else "__init__"


def graph_of(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """For each importer what it imports, itself left out."""
    graph: dict[str, set[str]] = {}
    for importer, imported in pairs:
        if importer != imported:
            graph.setdefault(importer, set()).add(imported)
    return graph


def reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """All that `start` imports, directly or not."""
    reached: set[str] = set()
    pending = [start]
    while pending:
        for following in graph.get(pending.pop(), set()) - reached:
            reached.add(following)
            pending.append(following)
    return reached


EAGER = [(found.importer, found.imported) for found in IMPORTS if not found.is_lazy]
PACKAGE_EDGES = graph_of((package_of(importer), package_of(imported)) for importer, imported in EAGER)


def edges_inside(package: str) -> dict[str, set[str]]:
    """The imports between the parts of one package."""
    prefix = f"gradtape.{package}"
    inside = [pair for pair in EAGER if all(package_of(module) == package for module in pair)]
    assert inside, f"{prefix} has no imports of its own"
    return graph_of((part_of(importer), part_of(imported)) for importer, imported in inside)


ALLOWED = {
    "__main__": "commands",
    "config": "errors",
    "extension": "forking",
    "core": "config errors explain forking",
    "explain": "atomic_write core errors forking",
    "numpy_dispatch": "chapters core errors explain extension",
    "ops": "core errors explain extension numpy_dispatch",
    "transforms": "config core errors explain ops",
    "extend": "config core errors explain extension forking jit loops numpy_dispatch ops transforms",
    "loops": "core errors ops transforms",
    "jit": "config core errors explain extension forking loops numpy_dispatch ops transforms",
    "gradtape": "chapters config core errors numpy_dispatch ops transforms",
    "array_api": "core errors explain numpy_dispatch ops",
    "bridges": "errors extend ops transforms",
    "checking": "core errors explain transforms",
    "commands": "atomic_write checking core errors explain",
    "linalg": "ops",
    "nn": "atomic_write errors extend ops",
    "notebooks": "core",
    "odes": "errors extend transforms",
    "optim": "errors extend ops",
    "optimize": "errors extend transforms",
    "quadrature": "errors extend ops transforms",
    "random": "errors extend ops",
    "signal": "errors ops",
    "standins": "extend gradtape nn optim stats",
    "stats": "errors extend ops random",
    "training": "atomic_write errors extend jit nn ops optim transforms",
}
"""What each package, or module at the top level, may import."""

ALLOWED_INSIDE = {
    "jit": {
        "ir": "",
        "passes": "ir",
        "runtime": "errors ir passes",
        "guards": "errors",
        "trace": "errors guards ir",
        "native": "ir",
        "diagnostics": "errors guards ir native runtime trace",
        "pipeline": "errors guards ir native passes runtime trace",
        "api": "diagnostics errors guards ir native passes pipeline runtime trace",
        "__init__": "api errors ir",
    },
    "explain": {
        "model": "",
        "render": "model",
        "emit": "model render",
        "source": "emit model render",
        "graph": "emit model render source",
        "fixes": "emit graph model render source",
        "messages": "emit fixes graph model render source",
        "detectors": "emit fixes graph messages model render source",
        "kernel": "detectors emit fixes graph messages model render source",
        "queries": "detectors emit fixes graph kernel messages model render source",
        "report": "detectors emit fixes graph kernel messages model queries render source",
    },
}
"""The same for the parts of the packages that have layers of their own, from the lowest to the highest."""

_EXTEND = "what is built on the engine uses public names and gradtape.extend only"
_STANDINS = "the stand-ins are to be a distribution of their own, which imports gradtape and gradtape.extend only"
_NOT_BELOW = "the order of the layers is ir, passes, runtime"

FORBIDDEN = {
    ("core", "numpy_dispatch"): "Tensor inherits its methods from numpy_dispatch.methods, but core is the lowest layer",
    ("numpy_dispatch", "ops"): "interchange checks arguments with helpers of ops, which registers with numpy_dispatch",
    ("jit", "gradtape"): "the guards of captured variables compare with the names of the whole package",
    ("bridges", "core"): _EXTEND,
    ("bridges", "numpy_dispatch"): _EXTEND,
    ("nn", "core"): _EXTEND,
    ("nn", "explain"): _EXTEND,
    ("odes", "core"): _EXTEND,
    ("odes", "explain"): _EXTEND,
    ("optim", "core"): _EXTEND,
    ("optim", "explain"): _EXTEND,
    ("optimize", "core"): _EXTEND,
    ("quadrature", "core"): _EXTEND,
    ("random", "core"): _EXTEND,
    ("stats", "core"): _EXTEND,
    ("training", "core"): _EXTEND,
    ("training", "explain"): _EXTEND,
    ("standins", "core"): _STANDINS,
    ("standins", "errors"): _STANDINS,
    ("standins", "explain"): _STANDINS,
    ("standins", "forking"): _STANDINS,
    ("standins", "jit"): _STANDINS,
    ("standins", "numpy_dispatch"): _STANDINS,
    ("standins", "ops"): _STANDINS,
    ("standins", "transforms"): _STANDINS,
    ("jit.ir", "jit.runtime"): _NOT_BELOW,
    ("jit.passes", "jit.runtime"): _NOT_BELOW,
    ("jit.passes", "jit.trace"): "passes read the program, not how it was traced",
    ("jit.runtime", "jit.guards"): "the cache of traces holds the signatures of calls; api is to bring them together",
    ("jit.runtime", "jit.trace"): "compiling is to be called by pipeline, not by the executable",
    ("jit.guards", "jit.trace"): "guards are below the tracer",
    ("jit.trace", "jit.native"): "the tracer does not know the backends",
    ("jit.trace", "jit.passes"): "loops are optimised while they are traced",
    ("jit.trace", "jit.runtime"): "loops are run while they are traced",
    ("jit.native", "jit.runtime"): "native code is lowered from the program only",
}
"""Imports that are there and should not be, each with the reason: none may be added, and they are to go."""


def unexpected(edges: Mapping[str, set[str]], allowed: Mapping[str, str], prefix: str = "") -> list[str]:
    """The edges that are neither allowed nor among those that are known to be wrong."""
    return [
        f"{prefix}{importer} imports {prefix}{imported}"
        for importer, targets in sorted(edges.items())
        for imported in sorted(targets - set(allowed.get(importer, "").split()))
        if (f"{prefix}{importer}", f"{prefix}{imported}") not in FORBIDDEN
    ]


def test_no_module_imports_itself_through_others() -> None:
    """Imports at module level have no cycle, so that any module can be imported first."""
    graph = graph_of(EAGER)
    assert [module for module in graph if module in reachable(graph, module)] == []


def test_packages_import_what_they_may() -> None:
    """Every import between packages is in the table."""
    assert unexpected(PACKAGE_EDGES, ALLOWED) == []


@pytest.mark.parametrize("package", ALLOWED_INSIDE)
def test_parts_of_a_package_import_what_they_may(package: str) -> None:
    """Every import between the parts of a package goes down its layers."""
    assert unexpected(edges_inside(package), ALLOWED_INSIDE[package], f"{package}.") == []


def test_no_edge_is_both_allowed_and_forbidden() -> None:
    """The tables do not contradict each other."""
    tables = {"": ALLOWED, **{f"{package}.": table for package, table in ALLOWED_INSIDE.items()}}
    allowed = {
        (prefix + importer, prefix + imported)
        for prefix, table in tables.items()
        for importer, targets in table.items()
        for imported in targets.split()
    }
    assert allowed.isdisjoint(FORBIDDEN)


def test_core_imports_messages_only_of_explanations() -> None:
    """The kernel reaches explanations through the facade that loads them when an error is raised."""
    imported = {target for source, target in EAGER if package_of(source) == "core" and package_of(target) == "explain"}
    assert imported <= {"gradtape.explain.messages"}


def test_the_model_of_explanations_imports_no_kernel() -> None:
    """What explanations are made of lies below the kernel, so that records of other libraries are no second class."""
    imported = {target for source, target in EAGER if source.startswith("gradtape.explain.model")}
    assert {package_of(target) for target in imported} <= {"errors", "explain"}
    assert all(target.startswith("gradtape.explain.model") for target in imported if package_of(target) == "explain")


KERNEL_IN_DETECTORS = {
    "location": "which files are the user's: frames and tracebacks are read, not the graph",
    "tensor": "none_used recognises tensors among the user's names",
    "tape": "none_used asks the tape that returned None",
    "pytree": "none_used goes through structures of sources",
}
"""What detectors and fixes import of the kernel, with the reason. They read records: the list may only shrink."""


def test_detectors_and_fixes_read_records_not_the_kernel() -> None:
    """Detectors and fixes import no more of the kernel than is listed, so that they work for other recorders."""
    imported = {
        found.imported.removeprefix("gradtape.core.")
        for found in IMPORTS
        if found.importer.startswith(("gradtape.explain.detectors", "gradtape.explain.fixes"))
        and package_of(found.imported) == "core"
    }
    assert imported == {*KERNEL_IN_DETECTORS}


def test_lazy_imports_close_no_more_cycles() -> None:
    """An import inside a function that is there only because of a cycle is a defect; there may be no new ones."""
    closing = sorted(
        f"{found.importer} imports {found.imported}"
        for found in IMPORTS
        if found.is_lazy
        and package_of(found.importer) != package_of(found.imported)
        and package_of(found.importer) in reachable(PACKAGE_EDGES, package_of(found.imported))
    )
    assert len(closing) <= LAZY_CYCLES_AT_MOST, "\n".join(closing)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import gradtape.core.graph", [("gradtape.core.graph", False)]),
        ("from gradtape.core import graph", [("gradtape.core.graph", False)]),
        ("from gradtape.core.graph import Node", [("gradtape.core.graph", False)]),
        ("from . import tape", [("gradtape.core.tape", False)]),
        ("from ..explain import messages", [("gradtape.explain.messages", False)]),
        ("def late():\n    import gradtape.jit", [("gradtape.jit", True)]),
        ("if TYPE_CHECKING:\n    import gradtape.jit\nelse:\n    import gradtape.nn", [("gradtape.nn", False)]),
        ("import numpy", []),
    ],
)
def test_imports_are_read(text: str, expected: list[tuple[str, bool]]) -> None:
    """All forms of imports are resolved to the module that they load."""
    found = imports_of("gradtape.core.tensor", text, is_package=False)
    assert [(each.imported, each.is_lazy) for each in found] == expected

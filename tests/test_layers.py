"""The layers of gradtape and its stand-ins: which package may import which, and that no import closes a cycle.

The modules are parsed, not imported. Only imports at module level count as edges; imports for type checkers do not, and
imports inside functions are counted where they close a cycle between packages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import gradtape

ROOT = Path(__file__).parent.parent
DISTRIBUTIONS = {"gradtape": ROOT, "gradtape_standins": ROOT / "packages" / "standins"}
"""The import packages, each with the folder that it is in."""

LAZY_CYCLES_AT_MOST = 15
"""How many imports inside functions close a cycle between packages. This number may only fall."""


class Import(NamedTuple):
    """One module imports another; lazily, if the statement is inside a function."""

    importer: str
    imported: str
    is_lazy: bool


def name_of(path: Path, folder: Path) -> str:
    """The dotted name of the module in a file of a package in `folder`."""
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    name_of(path, folder): path
    for package, folder in DISTRIBUTIONS.items()
    for path in sorted((folder / package).rglob("*.py"))
}


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
        if name.partition(".")[0] in DISTRIBUTIONS:
            yield Import(module, name, is_lazy)

    yield from visit(ast.parse(text), False)


IMPORTS = [
    found
    for name, path in MODULES.items()
    for found in {*imports_of(name, path.read_text(encoding="utf-8"), path.name == "__init__.py")}
]


def package_of(module: str) -> str:
    """The package or module at the top level that a module belongs to; "gradtape" for the top level itself.

    The stand-ins are one package: "gradtape_standins".
    """
    root, *rest = module.split(".")
    return rest[0] if rest and root == "gradtape" else root


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


def tree_of(module: str) -> ast.Module:
    """The parsed source of a module."""
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def names_imported_by(module: str) -> Iterator[tuple[str, str, str]]:
    """For each name that a module imports from one of gradtape's, also lazily: the module, the other one, the name."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "gradtape":
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield module, submodule if submodule in MODULES else str(node.module), alias.name
        elif isinstance(node, ast.Import):
            yield from ((module, alias.name, "") for alias in node.names if alias.name.startswith("gradtape."))


def private_names_of(tree: ast.Module) -> set[str]:
    """The names with an underscore that classes in a module define, or that methods set on themselves."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {part.name for node in classes for part in node.body if isinstance(part, ast.FunctionDef)}
    found |= {
        part.attr
        for node in classes
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self"
    }
    return {name for name in found if name.startswith("_") and not name.endswith("_")}


EAGER = [(found.importer, found.imported) for found in IMPORTS if not found.is_lazy]
PACKAGE_EDGES = graph_of((package_of(importer), package_of(imported)) for importer, imported in EAGER)

CORE_CLASSES = ("tensor", "batch", "tape", "forward", "recording")
PRIVATE = {name for module in CORE_CLASSES for name in private_names_of(tree_of(f"gradtape.core.{module}"))}
"""What tensors, tapes and the like have for the engine itself."""


def edges_inside(package: str, pairs: Iterable[tuple[str, str]] = EAGER) -> dict[str, set[str]]:
    """The imports between the parts of one package."""
    prefix = f"gradtape.{package}"
    inside = [pair for pair in pairs if all(package_of(module) == package for module in pair)]
    assert inside, f"{prefix} has no imports of its own"
    return graph_of((part_of(importer), part_of(imported)) for importer, imported in inside)


ALLOWED = {
    "__main__": "commands",
    "config": "errors trusted_files",
    "trusted_files": "errors",
    "extension": "forking",
    "core": "config errors explain forking source_names",
    "charts": "",
    "explain": "atomic_write charts core errors forking source_names standins_package",
    "numpy_dispatch": "chapters core errors explain extension",
    "ops": "chapters core errors explain extension forking numpy_dispatch",
    "transforms": "config core errors explain ops",
    "extend": "config core errors explain extension forking jit loops numpy_dispatch ops transforms",
    "loops": "core errors ops transforms",
    "jit": "config core errors explain extension forking loops numpy_dispatch ops source_names transforms "
    "trusted_files",
    "gradtape": "chapters config core errors numpy_dispatch ops transforms version",
    "array_api": "errors extend numpy_dispatch ops",
    "bridges": "errors extend ops transforms",
    "checking": "errors extend",
    "commands": "atomic_write checking core errors explain standins_package watching",
    "distributed": "checking config errors extend jit nn optim progress training transforms trusted_files",
    "linalg": "ops",
    "mirror": "core errors explain",
    "scipy": "errors extend linalg mirror numpy odes ops optimize quadrature random signal stats transforms",
    "numpy": "errors extend gradtape mirror ops random transforms",
    "nn": "errors extend ops",
    "notebooks": "extend",
    "odes": "errors extend transforms",
    "optim": "errors extend ops",
    "optimize": "errors extend progress transforms",
    "progress": "",
    "quadrature": "errors extend ops transforms",
    "random": "errors extend ops",
    "signal": "errors ops",
    "source_names": "",
    "stats": "errors extend ops random",
    "gradtape_standins": "errors extend gradtape jit nn optim stats",
    "training": "charts errors extend nn optim progress transforms",
    "watching": "core errors explain forking",
}
"""What each package, or module at the top level, may import."""

BUILT_ON_THE_ENGINE = (
    *("array_api", "bridges", "checking", "distributed", "nn", "notebooks", "odes", "optim", "optimize", "quadrature"),
    *("random", "numpy", "scipy", "stats", "training", "gradtape_standins"),
)
"""Chapters that use the engine through gradtape.extend, and the stand-ins."""

SURFACE = ("charts", "errors", "extend", "mirror", "ops", "progress", "signal", "trusted_files")
"""What they may import besides public names; of `ops` the operations, not how these read their arguments."""

ALLOWED_INSIDE = {
    "jit": {
        "ir": "",
        "passes": "ir",
        "guards": "errors ir",
        "native": "errors ir",
        # guards: an executable checks its own in each call; native: loaded when something is compiled
        "runtime": "errors guards ir native",
        # passes: the bodies of loops are optimised while they are traced, and the search for loops in the graph is that
        # of the reroll pass
        "trace": "errors guards ir passes",
        "callbacks": "errors runtime trace",
        "diagnostics": "errors guards ir native runtime trace",
        "pipeline": "errors guards ir native passes runtime trace",
        "inspection": "diagnostics errors guards ir pipeline runtime",
        "api": "diagnostics errors guards inspection ir pipeline runtime",
        "__init__": "api errors inspection ir",
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

FORBIDDEN = {
    ("core", "numpy_dispatch"): "Tensor inherits its methods from numpy_dispatch.methods, but core is the lowest layer",
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


def test_imports_inside_functions_of_jit_go_down_its_layers_too() -> None:
    """A lazy import in jit is there to load something late, and not to reach a higher layer."""
    everything = edges_inside("jit", [(found.importer, found.imported) for found in IMPORTS])
    assert unexpected(everything, ALLOWED_INSIDE["jit"], "jit.") == []


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


def test_core_reaches_explanations_through_two_facades() -> None:
    """The kernel imports the modules that load explanations when they are called, and none of the explanations."""
    imported = {target for source, target in EAGER if package_of(source) == "core" and package_of(target) == "explain"}
    assert imported == {"gradtape.explain.entry_points", "gradtape.explain.messages"}
    lazy = {found for found in IMPORTS if found.is_lazy and package_of(found.importer) == "core"}
    assert [found for found in lazy if package_of(found.imported) != "core"] == []


@pytest.mark.parametrize("package", BUILT_ON_THE_ENGINE)
def test_what_is_built_on_the_engine_uses_its_surface(package: str) -> None:
    """Besides operations and errors, chapters import public names of gradtape and names of gradtape.extend only."""
    assert [
        f"{module} imports {name} of {imported}"
        for importer in MODULES
        if package_of(importer) == package
        for module, imported, name in names_imported_by(importer)
        if (imported == "gradtape.ops.arguments" or package_of(imported) not in {*BUILT_ON_THE_ENGINE, *SURFACE})
        and name not in gradtape.__all__
    ] == []


@pytest.mark.parametrize("package", BUILT_ON_THE_ENGINE)
def test_what_is_built_on_the_engine_reads_no_private_attributes(package: str) -> None:
    """Chapters ask gradtape.extend for the array or the node of a tensor; their own attributes are their own."""
    own = {name for module in MODULES if package_of(module) == package for name in private_names_of(tree_of(module))}
    private = PRIVATE - own
    assert [
        f"{module}, line {node.lineno}: {ast.unparse(node)}"
        for module in MODULES
        if package_of(module) == package
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Attribute) and node.attr in private
    ] == []


def test_private_attributes_of_tensors_are_known() -> None:
    """The list that the test above goes by has what a tensor, a node and a tape keep to themselves."""
    assert {"_array", "_node", "_concrete", "_leave", "_replace", "_watched"} <= PRIVATE


def test_the_model_of_explanations_imports_no_kernel() -> None:
    """What explanations are made of lies below the kernel, so that records of other libraries are no second class."""
    imported = {target for source, target in EAGER if source.startswith("gradtape.explain.model")}
    assert {package_of(target) for target in imported} <= {"errors", "explain", "source_names"}
    assert all(target.startswith("gradtape.explain.model") for target in imported if package_of(target) == "explain")


KERNEL_IN_DETECTORS = {
    "location": "which files are the user's: frames and tracebacks are read, not the graph",
    "pytree": "none_used goes through structures of sources, which are Python's and not the recorder's",
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


def test_gradtape_does_not_import_the_stand_ins() -> None:
    """They may be missing: what needs them asks `standins_package` for them when it does."""
    into = [found for found in IMPORTS if package_of(found.imported) == "gradtape_standins"]
    assert {package_of(found.importer) for found in into} == {"gradtape_standins"}


def test_stand_ins_import_public_modules_only() -> None:
    """What is built on the engine imports `gradtape.extend` and public chapters, inside of functions too."""
    imported = {found.imported for found in IMPORTS if package_of(found.importer) == "gradtape_standins"}
    imported = {name for name in imported if package_of(name) != "gradtape_standins"}
    assert {package_of(name) for name in imported} <= set(ALLOWED["gradtape_standins"].split())
    assert {name for name in imported if package_of(name) == "jit"} == {"gradtape.jit"}


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

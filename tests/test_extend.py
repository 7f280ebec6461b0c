"""`gradtape.extend`: each name exists, is documented and needed, and loads nothing before it is used."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradtape as gt
from gradtape import extend

ROOT = Path(__file__).parent.parent
CHAPTERS = (
    "array_api bridges checking distributed nn notebooks numpy odes optim optimize quadrature random "
    "scipy stats training"
)


def imported_from_extend(text: str) -> set[str]:
    """The names that `from gradtape.extend import ...` gives in a piece of source."""
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in statements if node.module == "gradtape.extend" for alias in node.names}


def used_by_chapters_stand_ins_and_guide() -> set[str]:
    """The names that the chapters of gradtape, the stand-ins and the scripts of docs/extending.md import."""
    package = Path(extend.__file__).parent
    files = [file for name in CHAPTERS.split() for file in (package / f"{name}.py", *(package / name).rglob("*.py"))]
    files += (ROOT / "packages" / "standins" / "gradtape_standins").rglob("*.py")
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
    texts += re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return {name for text in texts for name in imported_from_extend(text)}


def in_fresh_interpreter(code: str) -> set[str]:
    """The list that `code` prints as JSON in a new process."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


MODULES = "json.dumps([name for name in sys.modules if name.startswith('gradtape')])"


def test_every_name_exists() -> None:
    """All names of `__all__` can be had, are listed once, and are what `dir` shows."""
    assert len(extend.__all__) == len(set(extend.__all__))
    assert [name for name in extend.__all__ if not hasattr(extend, name)] == []
    assert set(extend.__all__) <= set(dir(extend))


def test_nothing_else_looks_public() -> None:
    """What has no underscore in front is in `__all__`, or a name of the standard library that the module uses."""
    visible = {name for name in dir(extend) if name.isidentifier() and not name.startswith("_")}
    helpers = {"annotations", "importlib", "Callable", "TYPE_CHECKING", "Any"}
    assert visible - set(extend.__all__) == helpers


def test_an_unknown_name_is_an_error_that_says_where_to_look() -> None:
    """A name that is not there is refused like a missing attribute, with the list of those that are."""
    with pytest.raises(AttributeError, match=r"no_such_name.*gradtape.extend.__all__"):
        extend.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", extend.__all__)
def test_is_in_the_table_of_the_docstring(name: str) -> None:
    """The module's docstring has a line for each name, which begins with it or with a list that it is in."""
    heads = [re.split(r"\s{2,}", line)[0] for line in (extend.__doc__ or "").splitlines()]
    assert any(re.match(rf"(?:\w+(?:\([^)]*\))?, )*{name}\b", head) for head in heads)


def test_every_name_is_needed() -> None:
    """A chapter, the guide or the stand-ins use each name: the surface is no larger than what is built on it needs."""
    declarations = {"elementwise", "linear", "multilinear", "general", "constant"}  # see docs/adding-an-operation.md
    used = used_by_chapters_stand_ins_and_guide()
    assert set(extend.__all__) - used - declarations == set()


def test_names_that_are_imported_later_agree_with_those_for_type_checkers() -> None:
    """The table of lazy names and the imports for type checkers are the same list."""
    block = next(
        node
        for node in ast.parse(Path(extend.__file__).read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert not [alias for node in imports for alias in node.names if alias.asname]
    checked = {alias.name: node.module for node in imports for alias in node.names}
    assert checked == extend._HOMES


def test_the_import_loads_nothing_else() -> None:
    """`import gradtape` leaves `gradtape.extend` alone, whose own import adds one module."""
    before = in_fresh_interpreter(f"import gradtape, sys, json; print({MODULES})")
    after = in_fresh_interpreter(f"import gradtape.extend, sys, json; print({MODULES})")
    assert after - before == {"gradtape.extend"}


def test_a_lazy_name_loads_its_module_when_it_is_used() -> None:
    """The first use of a name imports its module, and the name is an attribute from then on."""
    code = f"import gradtape.extend as e, sys, json; e.WRONG_VALUE; assert 'WRONG_VALUE' in vars(e); print({MODULES})"
    loaded = in_fresh_interpreter(code)
    assert "gradtape.transforms.implicit.refusal" in loaded
    assert not any(name.startswith("gradtape.jit") for name in loaded)


def test_accessors_read_the_tensor_itself() -> None:
    """The array, the node and the numbers are the tensor's own, not copies."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    again = extend.Tensor(extend.array_of(x), extend.node_of(x))
    assert extend.array_of(again) is extend.array_of(x)
    assert extend.node_of(again) is extend.node_of(x)
    assert extend.concrete(x) is extend.array_of(x)


def test_saved_inputs_are_arrays_also_where_they_are_guarded() -> None:
    """An array of the user's that an operation has saved is found as that array."""
    weights = np.array([3.0, 4.0])
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    saved = extend.saved_inputs(extend.node_of(x * weights))
    assert saved[0] is None
    assert isinstance(saved[1], np.ndarray)
    np.testing.assert_array_equal(saved[1], weights)


def test_writes_can_be_overridden_and_put_back() -> None:
    """`x += y` calls the function, which decides what the name is bound to; the previous one can be set again."""
    previous = extend.override_write(lambda x, new, how: new)
    try:
        x = y = gt.tensor([1.0])
        y += 1.0
    finally:
        extend.override_write(previous)
    assert (float(x[0]), float(y[0])) == (1.0, 2.0)
    x += 1.0
    assert float(x[0]) == 2.0


def test_rebinding_can_be_overridden(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a decision that says so, `array += tensor` gives the name a tensor that is on the tape."""
    from gradtape.numpy_dispatch import protocols

    monkeypatch.setattr(protocols, "rebinds", protocols.rebinds)
    extend.override_rebinding(lambda: True)
    array = np.array([1.0, 2.0])
    array += gt.tensor([1.0, 1.0], requires_grad=True)
    assert extend.is_tracked(array)  # type: ignore[arg-type]

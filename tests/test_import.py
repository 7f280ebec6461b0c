"""What `import gradtape` does to a fresh interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gradtape.config import from_environment
from gradtape.errors import OperandError

ROOT = Path(__file__).parent.parent


def in_fresh_interpreter(code: str, variables: dict[str, str] | None = None) -> str:
    """What `code` prints in a new process, with these variables in its environment."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(variables or {})},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules_after(code: str) -> set[str]:
    """The top-level packages that are loaded after `code`."""
    listing = "; import sys, json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    return set(json.loads(in_fresh_interpreter(code + listing)))


def test_heavy_dependencies_wait_until_needed() -> None:
    """`import gradtape` loads neither SciPy nor llvmlite nor any optional library."""
    loaded = modules_after("import gradtape")
    assert "numpy" in loaded
    assert loaded.isdisjoint({"scipy", "llvmlite", "tqdm", "pytest", "hypothesis", "matplotlib", "IPython"})


def test_scipy_is_loaded_when_first_needed() -> None:
    """The first use of something that stands on SciPy loads it, so the test above is able to fail."""
    code = "import numpy, gradtape; gradtape.sparse_jacobian(lambda x: x * x)(numpy.ones(3))"
    assert "scipy" in modules_after(code)


def test_dask_waits_until_rows_are_gone_over() -> None:
    """`import gradtape.distributed`, and making a function of rows, load nothing of Dask."""
    code = "from gradtape import distributed; distributed.value_and_grad(lambda w, x: x @ w)"
    assert modules_after(code).isdisjoint({"dask", "distributed", "cloudpickle", "threadpoolctl", "scipy", "llvmlite"})


def test_only_own_modules_are_added() -> None:
    """Besides the standard library, `import gradtape` adds itself to what `import numpy` loads, and nothing else."""
    added = modules_after("import gradtape") - modules_after("import numpy")
    assert added - set(sys.stdlib_module_names) == {"gradtape"}


def test_star_import_gives_the_public_names() -> None:
    """`from gradtape import *` gives what is in `__all__`, and every name in it is there."""
    code = (
        "import gradtape; before = set(globals()); exec('from gradtape import *');"
        "print(sorted(set(globals()) - before - {'before'}) == sorted(gradtape.__all__))"
    )
    assert in_fresh_interpreter(code).strip() == "True"


def test_settings_start_from_the_environment() -> None:
    """GRADTAPE_THREADS and GRADTAPE_NATIVE_FEATURES are settings of a process; empty ones are as good as none."""
    code = "import gradtape as gt; print(gt.config.threads, repr(gt.config.native_features))"
    given = {"GRADTAPE_THREADS": "3", "GRADTAPE_NATIVE_FEATURES": "-avx512f,-fma"}
    assert in_fresh_interpreter(code, given).split() == ["3", "'-avx512f,-fma'"]
    assert in_fresh_interpreter(code, dict.fromkeys(given, "")).split() == ["None", "''"]


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        *(("GRADTAPE_THREADS", value, "an integer of at least 1") for value in ("0", "-1", "two", "1.5", " ")),
        *(("GRADTAPE_NATIVE_FEATURES", value, "with a sign") for value in ("avx2", "-", "-avx2 -fma x", "-avx2, -fma")),
    ],
)
def test_variables_of_the_environment_that_make_no_sense(name: str, value: str, accepted: str) -> None:
    """The error names the variable, what it is, what is accepted and the way out."""
    with pytest.raises(OperandError) as caught:
        from_environment({name: value})
    message = str(caught.value)
    for part in (name, repr(value), accepted, f"unset {name}"):
        assert part in message


def test_the_oldest_set_is_the_one_that_is_declared() -> None:
    """`make oldest` installs the lower bound of each dependency, and of nothing else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.removesuffix(".0") for line in lines if not line.startswith("#")]
    assert pinned == [bound.replace(">=", "==") for bound in project["dependencies"]]

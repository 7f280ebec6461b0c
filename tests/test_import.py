"""What `import gradtape` does to a fresh interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def in_fresh_interpreter(code: str) -> str:
    """What `code` prints in a new process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
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

"""Install the built distributions into clean environments, one for each Python, and run a short program in them.

    python tools/try_distributions.py dist python3.11 python3.12

Wheels of both distributions are installed for every Python, and the source distributions for the first of them. What
is tried needs the installed files only: a tape, a compiled function, an explanation with its page, a stand-in, the
command line, and types. `make dist` builds the distributions and calls this.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import sys, warnings
from importlib import metadata, resources

import numpy
import gradtape as gt
import gradtape.numpy as np
from gradtape_standins import torch

version = metadata.version("gradtape")
assert version == gt.__version__ == metadata.version("gradtape-standins"), "the versions differ"
assert f"gradtape=={version}" in metadata.requires("gradtape-standins"), "the stand-ins need gradtape of their version"
assert resources.files("gradtape").joinpath("py.typed").is_file(), "the types are not installed"

def heat(k):
    u = np.zeros(8)
    u[3] = 1.0
    for _ in range(60):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)

value, slope = gt.value_and_grad(heat)(0.1)
compiled = gt.jit(gt.value_and_grad(heat))(0.1)
difference = (heat(0.1 + 1e-6) - heat(0.1 - 1e-6)) / 2e-6
assert abs(slope - difference) < 1e-6 * abs(difference) + 1e-9, "the gradient is wrong"
assert numpy.allclose(compiled, (value, slope), rtol=1e-9), "the compiled gradient is wrong"

x = gt.Variable([0.4, 1.6])
with warnings.catch_warnings(record=True) as heard, gt.GradientTape() as tape:
    warnings.simplefilter("always")
    loss = numpy.sum(numpy.round(x))
    assert tape.gradient(loss, x) is None
assert heard[0].message.problem.code == "GT201", "the missing gradient is not explained"

t = torch.tensor([1.0, 2.0], requires_grad=True)
(t * t).sum().backward()
assert t.grad.tolist() == [2.0, 4.0], "the stand-in for PyTorch is wrong"
"""


def main() -> int:
    """Try every Python, print a line for each, and return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the wheels and source distributions are")
    parser.add_argument("pythons", nargs="+", help="the interpreters; those that are not there are named and left out")
    given = parser.parse_args()
    wheels, sources = (sorted(given.folder.resolve().glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    if len(wheels) != 2 or len(sources) != 2:
        parser.error(f"{given.folder} has to hold two wheels and two source distributions; it has {wheels + sources}")
    found = [python for python in given.pythons if shutil.which(python)]
    for python in given.pythons:
        if python not in found:
            print(f"{python}: not on this machine, not tried")
    if not found:
        parser.error(f"none of {', '.join(given.pythons)} is on this machine")
    tried = [(python, wheels) for python in found] + [(found[0], sources)]
    failed = [python for python, files in tried if not is_usable(python, files)]
    return int(bool(failed))


def is_usable(python: str, files: list[Path]) -> bool:
    """Whether `files` install into a new environment of `python` and the program runs there; prints what happened."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        inside = str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        (program := Path(folder) / "program.py").write_text(PROGRAM, encoding="utf-8")
        steps = [
            [python, "-m", "venv", folder],
            [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *map(str, files)],
            [inside, "-m", "pip", "check", "--quiet"],
            [inside, "-W", "error", str(program)],
            [inside, "-m", "gradtape", "run", str(program)],
            [inside, "-m", "gradtape", "why", "GT101"],
        ]
        for step in steps:
            done = subprocess.run(step, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{python}, {files[0].name}: FAILED at {' '.join(step)}")
                print(done.stdout, done.stderr, flush=True)
                return False
        version = subprocess.run([inside, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    kind = "wheels" if files[0].suffix == ".whl" else "source distributions"
    print(f"{version}, {kind}: installed and tried in {time.perf_counter() - begun:.0f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())

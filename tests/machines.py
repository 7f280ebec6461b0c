"""Run the tests whose numbers depend on the processor as other processors would.

    python -m tests.machines [--whole] [name ...]

What differs between processors is the order in which NumPy and BLAS add up, the precision of their functions by some
last places, signs that LAPACK may choose, and fused multiplications. NumPy, OpenBLAS and gradtape can each be told to
do without instruction sets that the processor has; a machine that needs more than there is is skipped, and named.
With `--whole` all tests are run, not only `TESTS`. The exit status is 1 if a test fails on a machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = ["gradtape", "packages/standins/gradtape_standins", "tests", "packages/standins/tests"]
"""The sources, for their doctests, and the tests of both distributions."""

TESTS = [
    *(
        "gradtape/ops",
        "tests/test_docs.py",
        "tests/test_odes.py",
        "tests/transforms/test_implicit.py",
        "tests/test_quadrature.py",
    ),
    *("tests/ops/test_decompositions.py", "tests/ops/test_matrix_functions.py", "tests/ops/test_norms.py"),
    *("tests/ops/test_eigen.py", "tests/ops/test_nan_reductions.py", "tests/ops/test_ufuncs.py"),
    *("tests/ops/test_special.py", "tests/ops/test_nn_normalisation.py", "tests/ops/test_numerics.py"),
    *("tests/jit/native/test_backend.py", "tests/jit/native/lower/test_inline_kernel.py", "tests/jit/test_api.py"),
    *(
        "tests/jit/diagnostics/test_retrace_reasons.py",
        "tests/jit/passes/test_reroll.py",
        "tests/optimize",
        "tests/semantics/test_numbers.py",
    ),
    *("tests/ops/test_stats.py", "tests/explain/detectors/test_nonfinite.py"),
    "tests/explain/test_exam.py::test_faulty_program_is_faulty_and_its_cure_cures_it",
]
"""Tests that compare numbers of NumPy, BLAS and native code, and examples that print them."""


@dataclass(frozen=True)
class Machine:
    """A processor to imitate: its kernels in OpenBLAS, and what it needs, as LLVM calls it."""

    name: str
    description: str
    needs: frozenset[str]
    without: tuple[str, ...] = ()
    """How the names of the features begin that NumPy is to do without."""
    variables: dict[str, str] = field(default_factory=dict)

    def missing(self, features: Collection[str]) -> list[str]:
        """What a processor with these features lacks."""
        return sorted(self.needs.difference(features))

    def environment(self, found: Collection[str]) -> dict[str, str]:
        """The environment variables that imitate it, where NumPy has found these features."""
        disabled = [name for name in found if name.startswith(self.without)] if self.without else []
        return {
            "OPENBLAS_CORETYPE": self.name,
            **({"NPY_DISABLE_CPU_FEATURES": " ".join(disabled)} if disabled else {}),
            **self.variables,
        }


MACHINES = [
    Machine(
        "Prescott",
        "vectors of 128 bits",
        frozenset({"sse3"}),
        ("",),
        {"GRADTAPE_NATIVE_FEATURES": "-avx512f,-avx2,-avx,-fma"},
    ),
    Machine(
        "Haswell",
        "vectors of 256 bits and fused multiplications",
        frozenset({"avx2", "fma"}),
        ("X86_V4", "AVX512"),
        {"GRADTAPE_NATIVE_FEATURES": "-avx512f"},
    ),
    Machine(
        "Zen",
        "one thread, and native code without fused multiplications",
        frozenset({"avx2", "fma"}),
        variables={
            "GRADTAPE_NATIVE_FEATURES": "-avx512f,-avx2,-fma",
            "GRADTAPE_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
    ),
    Machine(
        "SkylakeX",
        "vectors of 512 bits and two threads",
        frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}),
        variables={"GRADTAPE_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
    ),
]


def features_of_the_processor() -> set[str]:
    """The names, as LLVM has them, of what this processor can do."""
    return {name for name, has in llvm.get_host_cpu_features().items() if has}


def features_found_by_numpy() -> list[str]:
    """The names, as NumPy has them, of what it chooses its loops by and may be told to do without."""
    return list(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))


def run(machine: Machine, tests: list[str], workers: str) -> tuple[int, str]:
    """The exit status and the last line of pytest as `machine` would run it."""
    variables = machine.environment(features_found_by_numpy())
    print(f"\n{machine.name}: " + " ".join(f'{name}="{value}"' for name, value in variables.items()), flush=True)
    command = [sys.executable, "-m", "pytest", "-n", workers, "--dist", "worksteal", "--doctest-modules", *tests]
    last = ""
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode, last


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.machines", description="Run the tests as other processors.")
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(machine.name for machine in MACHINES)}")
    parser.add_argument("--whole", action="store_true", help="all tests, not only those that are likely to differ")
    parser.add_argument("--workers", default="auto", help="how many processes run the tests")
    options = parser.parse_args()
    known = {machine.name for machine in MACHINES}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"{unknown[0]!r} is no machine; there are {', '.join(sorted(known))}")
    features = features_of_the_processor()
    said, failed = [], False
    for machine in MACHINES:
        if options.names and machine.name not in options.names:
            continue
        if missing := machine.missing(features):
            said.append(f"{machine.name}: skipped, because this processor has no {', '.join(missing)}")
            continue
        status, last = run(machine, PROJECTS if options.whole else TESTS, options.workers)
        failed |= status != 0
        said.append(f"{machine.name} ({machine.description}): {last}")
    print("\n" + "\n".join(said))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

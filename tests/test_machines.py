"""The processors that `make machines` imitates: which of them there are, and what each is made of."""

from __future__ import annotations

import machines
import pytest

from gradtape.config import from_environment

OLD = {"sse2", "sse3"}
NEW = OLD | {"avx", "avx2", "fma", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
MACHINES = {machine.name: machine for machine in machines.MACHINES}


@pytest.mark.parametrize("name", MACHINES)
def test_settings_of_a_machine_are_accepted(name: str) -> None:
    """Its environment is one that gradtape starts with, and names its kernels of OpenBLAS."""
    variables = MACHINES[name].environment(["X86_V3", "X86_V4"])
    assert variables["OPENBLAS_CORETYPE"] == name
    assert from_environment(variables).native_features == variables.get("GRADTAPE_NATIVE_FEATURES", "")


def test_what_a_processor_cannot_do_is_skipped() -> None:
    """A machine that needs more than there is is not run, and what is missing is named."""
    assert MACHINES["SkylakeX"].missing(NEW - {"avx512f", "avx512vl"}) == ["avx512f", "avx512vl"]
    assert [name for name, machine in MACHINES.items() if not machine.missing(OLD)] == ["Prescott"]
    assert not any(machine.missing(NEW) for machine in MACHINES.values())


def test_numpy_is_told_of_features_that_it_has() -> None:
    """Old machines do without all that NumPy has found, newer ones without what is newer, by NumPy's old names too."""
    for found, newer in ([["X86_V3", "X86_V4"], "X86_V4"], [["AVX2", "FMA3", "AVX512F"], "AVX512F"]):
        assert MACHINES["Prescott"].environment(found)["NPY_DISABLE_CPU_FEATURES"] == " ".join(found)
        assert MACHINES["Haswell"].environment(found)["NPY_DISABLE_CPU_FEATURES"] == newer
        assert "NPY_DISABLE_CPU_FEATURES" not in MACHINES["SkylakeX"].environment(found)
    assert "NPY_DISABLE_CPU_FEATURES" not in MACHINES["Prescott"].environment([])


def test_every_test_of_the_short_run_exists() -> None:
    """What is run in short is a part of the tests."""
    assert [path for path in machines.TESTS if not (machines.ROOT / path.partition("::")[0]).exists()] == []

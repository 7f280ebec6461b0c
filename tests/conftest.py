"""What is not collected, and what holds for all tests.

Not collected: programs that the stand-ins or other tests run, and checks that need the libraries they compare with.
"""

from __future__ import annotations

import gc
import os
import sys
import zlib
from collections.abc import Iterator

import pytest

# the compiler's programs are verified after every stage, here and in processes that tests start
os.environ.setdefault("GRADTAPE_CHECK", "verify")
# threads of OpenBLAS sleep when they have nothing to do (after 2**4 cycles, not 2**26): other tests need the processor;
# read when NumPy and SciPy load the library, which is after this
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

if os.environ.get("GRADTAPE_TEST_SAMPLES") == "unevaluated":  # leave all samples unevaluated that can be
    from gradtape.jit.trace import unevaluated

    unevaluated.LARGE, unevaluated.LONG_LOOP = -1, 0

collect_ignore_glob = ["same_run/*", "bridges/*_checks.py", "*/conformance.py"]

LLVM_MODULE = "gradtape.jit.native.runtime.llvm"
FULL_CODE_ONE_IN = 4


def pytest_collection_finish() -> None:
    """The collector does not look at the tests themselves: they would make each `gc.collect()` take a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _settings_of_no_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The key of the cache on disk is made for the tests alone, and not in the settings of the user who runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
        yield


@pytest.fixture(autouse=True)
def _instruction_selection(request: pytest.FixtureRequest) -> Iterator[None]:
    """Native code of three in four tests is generated without LLVM's best instruction selection.

    That takes a fifth of LLVM's time and computes the same numbers. Which tests these are depends on their names only,
    so that a test that fails does so in each run. Tests marked `production` have the code that users have.
    """
    llvm = sys.modules.get(LLVM_MODULE)
    is_full = zlib.crc32(request.node.nodeid.encode()) % FULL_CODE_ONE_IN == 0
    if llvm is None or is_full or request.node.get_closest_marker("production"):
        yield
        return
    machine = llvm.host()
    machine.always_hasty = True
    yield
    machine.always_hasty = False

"""The thread pool of native code: every piece is computed once, by any thread."""

import ctypes
import itertools
import os
import subprocess
import sys
import threading

import pytest

from gradtape.config import config
from gradtape.jit.native.runtime.pool import PARALLEL, Pool, pool
from gradtape.jit.native.runtime.pool_code import LINE, PAUSES, PIECES, Field, make_text

UNITS = 37
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@pytest.fixture(autouse=True)
def _four_threads(monkeypatch):
    monkeypatch.setattr(config, "threads", 4)


def run(work, made=None, units=UNITS):
    """Divide the units of `work(begin, end)`, as native code does."""
    made = made or pool()
    parallel = made.library.function(PARALLEL, None, FUNCTION, ctypes.c_void_p, ctypes.c_int64)
    parallel(FUNCTION(lambda buffers, begin, end: work(begin, end)), None, units)


def start():
    """The pool with its helpers."""
    pool().start_helpers()
    return pool()


def test_every_unit_is_computed_once():
    """Pieces cover all units, in whatever order, also when several threads ask for the helpers, time and again."""
    start()
    done = [[] for _ in range(3)]

    def call(found):
        for _ in range(20):
            run(lambda begin, end: found.extend(range(begin, end)))

    callers = [threading.Thread(target=call, args=(found,)) for found in done]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert [sorted(found) for found in done] == [sorted([*range(UNITS)] * 20)] * 3


def test_helpers_help():
    """A piece that waits for another piece is not waited for in vain: they are computed at the same time."""
    made = start()
    both, numbers, before = threading.Barrier(2, timeout=30), itertools.count(), made.regions

    def work(begin, end):
        if next(numbers) < 2:
            both.wait()

    run(work)
    assert next(numbers) == 4 * PIECES
    assert made.regions == before + 1


def test_a_helper_that_sleeps_is_woken():
    """Helpers that have waited long enough to sleep on their locks take part in the next loop."""
    made = start()
    while not all(made[Field.FIRST_HELPER + LINE * number] for number in range(3)):
        threading.Event().wait(0.001)
    test_helpers_help()


def test_the_calling_thread_sleeps_until_the_last_piece_is_done():
    """A piece of a helper that takes long is waited for on a lock, and the loop ends after it."""
    made = start()
    main, done = threading.get_ident(), []

    def work(begin, end):
        if threading.get_ident() == main:
            while not done and not helping.is_set():  # the helper has a piece before the others are gone
                helping.wait(0.001)
        else:
            helping.set()
            while not made[Field.WAITING]:
                threading.Event().wait(0.001)
        done.append(begin)

    helping = threading.Event()
    run(work, units=4)
    assert sorted(done) == [0, 1, 2, 3]


def test_the_caller_does_not_wait_for_helpers_that_do_not_start():
    """Where no helper runs, the calling thread computes everything, in order."""
    made = Pool()
    made[Field.HELPERS] = 3  # which were never started
    found = []
    run(lambda begin, end: found.extend(range(begin, end)), made)
    assert found == list(range(UNITS))
    assert made.regions == 1


def test_a_loop_within_a_piece_is_computed_by_its_thread():
    """The units of an inner loop are one range: the pool is in use."""
    made = start()
    found = []
    before = made.regions
    run(lambda begin, end: run(lambda first, last: found.append((first, last)), units=5), units=8)
    assert found == [(0, 5)] * 8
    assert made.regions == before + 1


@pytest.mark.parametrize("count", [1, 2])
def test_no_more_threads_than_configured(monkeypatch, count):
    """Helpers beyond the limit do not take part, though they have been started."""
    start()
    monkeypatch.setattr(config, "threads", count)
    threads = set()
    for _ in range(10):
        run(lambda begin, end: threads.add(threading.get_ident()))
    assert len(threads) <= count


def test_a_limit_that_is_raised_starts_helpers(monkeypatch):
    """Functions that were made for one thread use more of them when the setting changes."""
    made = start()
    count = made[Field.HELPERS] + 2
    monkeypatch.setattr(config, "threads", count)
    assert made[Field.HELPERS] == count - 1
    assert made[Field.LIMIT] == count


CHILD = """
import os
import numpy as np
import gradtape as gt
gt.config.threads = 3
f = gt.jit(lambda x: np.sum(np.sin(x) * x))
x = np.linspace(0.0, 1.0, 300_000)
first, second = f(x), f(x)
child = os.fork()
if not child:
    again = f(x)                                           # without helpers, which a child has not
    g = gt.jit(lambda x: np.sum(np.cos(x) * x))            # with its own
    os._exit(0 if again == second and g(x) == g(x) and f(x) == second else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert first == second == f(x)
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_a_child_process_has_helpers_of_its_own():
    """After a fork, parent and child both compute the same bits, and both processes end."""
    made = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=120, check=False)
    assert made.stdout == "done\n", made.stderr
    assert made.returncode == 0


@pytest.mark.parametrize("architecture", [*PAUSES, "riscv64"])
def test_the_code_of_each_architecture_is_valid(architecture):
    """The IR is well formed, with the instruction for waiting that the architecture has."""
    import llvmlite.binding as llvm

    llvm.parse_assembly(make_text(architecture)).verify()

"""Large loops over several threads: every piece is computed once, by any thread."""

import itertools
import threading
from types import SimpleNamespace

import pytest

from gradtape.config import config
from gradtape.jit.native.runtime import threads

NEST = SimpleNamespace(units=37, elements=10**9, heavy=True)


@pytest.fixture(autouse=True)
def _four_threads(monkeypatch):
    monkeypatch.setattr(config, "threads", 4)


def test_every_unit_is_computed_once():
    """Pieces cover all units, in whatever order, also when several callers share the helpers."""
    done = [[] for _ in range(3)]

    def call(found):
        threads.run(NEST, lambda buffers, begin, end: found.extend(range(begin, end)), None)

    callers = [threading.Thread(target=call, args=(found,)) for found in done]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert [sorted(found) for found in done] == [list(range(37))] * 3


def test_helpers_help():
    """A piece that waits for another piece is not waited for in vain: they are computed at the same time."""
    both, numbers = threading.Barrier(2, timeout=30), itertools.count()

    def work(buffers, begin, end):
        if next(numbers) < 2:
            both.wait()

    threads.run(NEST, work, None)
    assert next(numbers) == 8


def test_the_caller_does_not_wait_for_helpers_that_do_not_start(monkeypatch):
    """Where no helper can be had, the calling thread computes everything."""
    monkeypatch.setattr(threads, "_call_helpers", lambda number: SimpleNamespace(put=lambda task: None))
    found = []
    threads.run(NEST, lambda buffers, begin, end: found.extend(range(begin, end)), None)
    assert found == list(range(37))


def test_a_piece_that_fails():
    """An error in any thread is raised after all pieces are done; the helpers live on."""
    met = []

    def work(buffers, begin, end):
        met.append(begin)
        raise MemoryError

    with pytest.raises(MemoryError):
        threads.run(NEST, work, None)
    assert len(met) == 8
    test_every_unit_is_computed_once()


def test_small_loops_are_not_split():
    """A loop that is shorter than the way to another thread is one piece."""
    found = []
    small = SimpleNamespace(units=37, elements=1000, heavy=False)
    threads.run(small, lambda buffers, begin, end: found.append((begin, end)), None)
    assert found == [(0, 37)]

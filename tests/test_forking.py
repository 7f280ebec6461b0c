"""Processes that fork while their threads compile: the children compute what a fresh process would."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT, ROOT / "packages" / "standins")
SECONDS = 60  # that a child has, until it is taken to hang

COMMON = f"""
    import os, sys, threading, time, warnings
    import numpy as np
    import gradtape as gt

    warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of a fork with several threads


    def compiled(number):
        return gt.jit(gt.value_and_grad(lambda x: np.sum(np.exp(np.sin(x * (1.0 + number))) * x)))


    def in_child(work):
        "Fork; whether `work()` was true in the child, which has its time."
        child = os.fork()
        if not child:
            status = 1
            try:
                status = 0 if work() else 2
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
            finally:
                os._exit(status)
        end = time.monotonic() + {SECONDS}
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status == 0
            time.sleep(0.001)
        os.kill(child, 9)
        os.waitpid(child, 0)
        print("the child hangs", file=sys.stderr)
        return False
"""

IN_A_LOOP = """
    x = np.linspace(0.0, 1.0, 40)
    expected = [gt.value_and_grad(lambda x: np.sum(np.exp(np.sin(x * (1.0 + n))) * x))(x) for n in range(1000, 1012)]
    large = np.linspace(0.0, 1.0, 400_000)
    gt.config.threads = 2
    wave = gt.jit(lambda x: np.sum(np.sin(x) ** 2 + np.exp(-x)))
    before = wave(large)  # starts the helpers
    stop = threading.Event()
    passed = threading.Semaphore(0)


    def compile_on():
        for number in range(2000):
            if stop.is_set():
                return
            compiled(number)(x)
            passed.release()


    def agrees(number):
        value, gradient = compiled(1000 + number)(x)
        wanted, wanted_gradient = expected[number]
        again = gt.jit(lambda x: np.sum(np.sin(x) ** 2 + np.exp(-x)))(large)
        with gt.GradientTape() as tape:
            tensor = tape.watch(x)
            target = np.sum(tensor * tensor)
        return (
            np.allclose(value, wanted)
            and np.allclose(gradient, wanted_gradient)
            and wave(large) == before == again
            and np.array_equal(tape.gradient(target, tensor), 2 * x)
        )
"""


def run(script: str, *arguments: str) -> str:
    """What a script prints, which must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(COMMON) + textwrap.dedent(script), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SOURCES))},
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "on disk"])
def test_children_compile_while_a_thread_of_the_parent_does(tmp_path: Path, kept: bool) -> None:
    """A child forked while another thread compiles can compile, run threads, use the disk, and differentiate."""
    script = textwrap.dedent(IN_A_LOOP) + textwrap.dedent(
        """
        if len(sys.argv) > 1:
            gt.config.cache_dir = sys.argv[1]
        thread = threading.Thread(target=compile_on)
        thread.start()
        results = []
        for number in range(12):
            passed.acquire()
            results.append(in_child(lambda: agrees(number)))
        stop.set()
        thread.join()
        print(results.count(True), wave(large) == before)
        """
    )
    assert run(script, *([str(tmp_path / "code")] if kept else [])) == "12 True"


def test_a_fork_in_the_middle_of_the_first_compilation() -> None:
    """A child forked while another thread imports the compiler, and initialises LLVM, can compile."""
    script = """
        x = np.linspace(0.0, 1.0, 40)
        thread = threading.Thread(target=lambda: compiled(1)(x))
        thread.start()
        results = [in_child(lambda: bool(np.isfinite(compiled(2)(x)[0]))) for _ in range(6)]
        thread.join()
        print(results.count(True))
    """
    assert run(script) == "6"


def test_children_of_multiprocessing() -> None:
    """A pool of forked processes compiles, while a thread of the parent does."""
    script = textwrap.dedent(IN_A_LOOP) + textwrap.dedent(
        """
        import multiprocessing

        thread = threading.Thread(target=compile_on)
        thread.start()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            results = pool.map_async(agrees, range(4)).get(timeout=120)
        stop.set()
        thread.join()
        print(results)
        """
    )
    assert run(script) == "[True, True, True, True]"


def test_locks_of_other_threads_are_free_in_the_child() -> None:
    """A lock that another thread holds is free in the child; one of the thread that forks is still held there."""
    script = """
        from gradtape.forking import fork_safe

        locks = [fork_safe(threading.Lock()), fork_safe(threading.RLock())]
        own = fork_safe(threading.RLock())
        held, over = threading.Event(), threading.Event()


        def hold():
            with locks[0], locks[1]:
                held.set()
                over.wait()


        def check():
            free = [lock.acquire(blocking=False) for lock in locks]
            other = []
            thread = threading.Thread(target=lambda: other.append(own.acquire(blocking=False)))
            thread.start()
            thread.join()
            return free == [True, True] and other == [False]


        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        with own:
            print(in_child(check), locks[0].locked())
        over.set()
        thread.join()
    """
    assert run(script) == "True True"


def test_every_lock_of_the_library_is_fork_safe() -> None:
    """No module makes a lock by itself: each is handed to `fork_safe`."""
    packages = [SOURCES[0] / "gradtape", SOURCES[1] / "gradtape_standins"]
    paths = [path for package in packages for path in package.rglob("*.py")]
    lines = [(path, line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    made = [
        (path.name, line.strip()) for path, line in lines if "threading.Lock()" in line or "threading.RLock()" in line
    ]
    unsafe = [place for place in made if "fork_safe(" not in place[1] and not place[1].startswith(">>>")]
    assert not unsafe
    plain = [path.name for path, line in lines if "functools.cached_property" in line and "isinstance(" not in line]
    assert set(plain) == {"forking.py"}


def test_garbage_is_collected_in_the_child_as_before() -> None:
    """The child does not inherit the seldom collection of a compilation that another thread is in the middle of."""
    script = """
        import gc
        from gradtape.jit.runtime.gc_pause import collect_less_often

        before = gc.get_threshold()
        inside, over = threading.Event(), threading.Event()


        def stay():
            with collect_less_often():
                inside.set()
                over.wait()


        thread = threading.Thread(target=stay)
        thread.start()
        inside.wait()
        results = [gc.get_threshold() != before, in_child(lambda: gc.get_threshold() == before)]
        with collect_less_often():
            results.append(in_child(lambda: gc.get_threshold() != before))
        over.set()
        thread.join()
        print(results, gc.get_threshold() == before)
    """
    assert run(script) == "[True, True, True] True"


def test_a_fork_waits_for_imports_that_are_under_way(tmp_path: Path) -> None:
    """A module that another thread is importing is whole in the child, which could not import it otherwise."""
    (tmp_path / "slowly.py").write_text("import __main__\n__main__.begun.set()\n__main__.go_on.wait()\nvalue = 7\n")
    script = """
        from gradtape import forking

        sys.path.insert(0, sys.argv[1])
        begun, go_on = threading.Event(), threading.Event()
        wait = forking.importlib.import_module
        forking.lazy_packages = {"slowly"}


        class Importlib:
            @staticmethod
            def import_module(name):
                go_on.set()  # it is waited for
                return wait(name)


        forking.importlib = Importlib
        thread = threading.Thread(target=lambda: __import__("slowly"))
        thread.start()
        begun.wait()
        print(in_child(lambda: __import__("slowly").value == 7))
        thread.join()
    """
    assert run(script, str(tmp_path)) == "True"


def test_generators_of_the_standins_draw_in_the_child() -> None:
    """The generator that a stand-in shares draws in the child, although another thread was drawing from it."""
    script = """
        from gradtape_standins import tensorflow as tf, torch

        generators = [torch.random.default_generator.numpy, tf.random.generator_for()]
        held, over = threading.Event(), threading.Event()


        def hold():
            with generators[0].bit_generator.lock, generators[1].bit_generator.lock:
                held.set()
                over.wait()


        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        print(in_child(lambda: torch.rand(2).shape == (2,) and tf.random.normal([2]).shape == (2,)))
        over.set()
        thread.join()
    """
    assert run(script) == "True"

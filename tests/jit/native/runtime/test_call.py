"""Native calls: they compute what Python calls do, and are made only where all that a Python call checks holds."""

import gc
import sys
import threading
import warnings

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import jit
from tests.jit.native.test_backend import is_native

pytestmark = pytest.mark.production


def start(compiled, *arguments, **named):
    """Call a function until its calls are native, and say whether they are."""
    for _ in range(3):
        compiled(*arguments, **named)
    return is_native(compiled, *arguments, **named)


factor = 2.0


def scaled(x):
    return np.sin(x) * factor


def limited(x):
    return np.sin(x) * max(2, 1)


def test_a_global_that_changes_is_noticed():
    """A number among the globals that is replaced is read again, and the old program is native when it is back."""
    global factor
    compiled, x = jit(scaled), np.arange(3.0)
    assert start(compiled, x)
    factor = 3.0
    try:
        assert not is_native(compiled, x)
        np.testing.assert_allclose(compiled(x), np.sin(x) * 3, rtol=1e-14)
    finally:
        factor = 2.0
    np.testing.assert_allclose(compiled(x), np.sin(x) * 2, rtol=1e-14)


def test_a_built_in_name_that_is_shadowed_is_noticed():
    """A global that hides a built-in function is called from then on."""
    compiled, x = jit(limited), np.arange(3.0)
    assert start(compiled, x)
    globals()["max"] = lambda *numbers: 5
    try:
        np.testing.assert_allclose(compiled(x), np.sin(x) * 5, rtol=1e-14)
    finally:
        del globals()["max"]
    np.testing.assert_allclose(compiled(x), np.sin(x) * 2, rtol=1e-14)


@pytest.mark.filterwarnings("ignore:.*GT701")  # it is traced again for each change
def test_what_closures_lists_and_objects_hold_is_compared():
    """Cells, items of lists, attributes and the code of functions are compared in each call."""

    class Settings:
        scale = 1.0

    settings, numbers, offset = Settings(), [1.0, 2.0], 0.5
    settings.scale = 2.0

    def inner(x):
        return np.sin(x)

    def function(x):
        return inner(x) * settings.scale * numbers[1] + offset

    compiled, x = jit(function), np.arange(3.0)
    assert start(compiled, x)
    for change in range(5):
        if change == 0:
            settings.scale = 3.0
        elif change == 1:
            numbers[1] = 7.0
        elif change == 2:
            offset = 1.5
        elif change == 3:
            inner.__code__ = (lambda x: np.cos(x)).__code__
        else:
            numbers.insert(0, 4.0)
        assert not is_native(compiled, x)
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-14)
        assert start(compiled, x)


def test_a_cell_without_a_value_is_left_to_python():
    """A closed-over name that is deleted raises what the function raises."""
    weights = np.ones(3)

    def function(x):
        return np.sin(x) * weights

    compiled, x = jit(function), np.arange(3.0)
    assert start(compiled, x)
    weights = weights * 2.0
    assert is_native(compiled, x)
    np.testing.assert_allclose(compiled(x), np.sin(x) * 2, rtol=1e-14)
    (cell,) = function.__closure__
    del cell.cell_contents
    with pytest.raises(NameError):
        compiled(x)


def test_tapes_checks_and_tensors_are_left_to_python():
    """What records, watches or stops at numbers is handled by the Python call."""
    compiled, x = jit(lambda x: np.sum(np.sin(x))), np.arange(3.0)
    assert start(compiled, x)
    with gt.no_grad():
        assert not is_native(compiled, x)
    with gt.check_numerics():
        assert compiled(x) == np.sum(np.sin(x))
    assert compiled.stats.uncompiled == 1
    assert start(compiled, x)
    with gt.GradientTape() as tape:
        assert is_native(compiled, x)
        source = gt.tensor(x)
        tape.watch(source)
        value = compiled(source)
    np.testing.assert_allclose(tape.gradient(value, source), np.cos(x), rtol=1e-14)
    tracked = gt.tensor(x, requires_grad=True)
    compiled(tracked).backward()
    np.testing.assert_allclose(tracked.grad, np.cos(x), rtol=1e-14)


@pytest.mark.parametrize(
    "given",
    [
        np.arange(6.0)[::2],
        np.arange(3.0).astype(">f8"),
        np.arange(3, dtype=np.float32),
        np.arange(3),
        np.arange(4.0),
        np.arange(3.0)[None],
        np.array(2.0),
        np.float64(2.0),
        2.0,
        np.zeros(0),
        np.frombuffer(b"\0" + np.arange(3.0).tobytes(), offset=1),
    ],
)
def test_other_arguments_are_left_to_python(given):
    """Another layout, dtype, rank, length or type is computed as by the function."""
    function = lambda x: (np.sin(x) * 2.0, x + 1.0)
    compiled = jit(function)
    assert start(compiled, np.arange(3.0))
    for _ in range(2):
        found, wanted = compiled(given), function(given)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
            assert np.asarray(one).dtype == np.asarray(other).dtype
    assert is_native(compiled, np.arange(3.0)) or start(compiled, np.arange(3.0))


def test_the_structure_of_the_answer():
    """Tuples, lists, dictionaries and None are built as the function builds them, in its order."""
    trees = [
        lambda a, b: (b, a),
        lambda a, b: [a, (b, None)],
        lambda a, b: (a, (b, [])),
        lambda a, b: ((), {"b": b, "a": [a, None]}),
        lambda a, b: ((a,), [[b]]),
    ]
    x = np.arange(3.0)
    for tree in trees:
        function = lambda x, tree=tree: tree(np.sin(x), np.sum(np.cos(x)))
        compiled = jit(function)
        for _ in range(4):
            assert repr(compiled(x)) == repr(function(x))


def test_named_arguments():
    """Arguments by name are read by name, in the order of the trace; a wrong one raises the function's error."""
    compiled, x, y = jit(lambda x, y: np.sin(x) - y), np.arange(3.0), np.ones(3)
    assert start(compiled, x, y=y)
    np.testing.assert_allclose(compiled(x, y=y), np.sin(x) - 1.0, rtol=1e-14)
    np.testing.assert_allclose(compiled(y=y, x=x), np.sin(x) - 1.0, rtol=1e-14)
    np.testing.assert_allclose(compiled(x, y), np.sin(x) - 1.0, rtol=1e-14)
    for _ in range(2):
        with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
            compiled(x, z=y)
        with pytest.raises(TypeError):
            compiled(x)
    np.testing.assert_allclose(compiled(x, **{}, y=y), np.sin(x) - 1.0, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_loss_that_is_not_finite_is_explained_once(dtype):
    """The first value that is not finite is explained in the run in which it appears, and not again."""
    compiled, x = jit(gt.value_and_grad(lambda x: np.sum(np.log(x)))), np.ones(3, dtype)
    assert start(compiled, x)
    compiled.stats.counters.runs = 4
    bad = np.array([1.0, 0.0, 1.0], dtype)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        value, _ = compiled(bad)
    assert np.isneginf(value)
    assert compiled.stats.runs == 5
    assert any("inf" in str(warning.message) for warning in found)
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        assert is_native(compiled, bad)
    assert not again


def test_the_executable_that_ran_last_is_the_one_that_is_shown():
    """Native and Python calls by turns: `program` is that of the last one."""
    compiled, x, y = jit(lambda x: np.sin(x) * 2.0), np.arange(3.0), np.arange(8.0)[::2]
    assert start(compiled, x)
    compiled(y)
    assert compiled.program.inputs[0].shape == (4,)
    compiled(x)
    assert compiled.program.inputs[0].shape == (3,)
    compiled.clear()
    assert compiled._fast is None
    compiled(x)
    assert compiled.stats.traces == 3


def test_references_are_balanced():
    """Many calls, native ones and ones that are left to Python at each of the checks, neither leak nor free objects."""
    held = {"w": np.ones(3)}
    plain = jit(lambda x: (np.sin(x) * held["w"], [np.sum(x), None]))
    nested = jit(lambda tree: {"a": tree["a"] + 1.0, "b": [np.sum(tree["b"][0])]})
    x, tree = np.arange(3.0), {"a": np.ones(3), "b": [np.ones(3)]}
    assert start(plain, x)
    assert start(nested, tree)
    other = {"a": np.ones(3), "b": [np.ones(3)[::-1]]}
    for _ in range(40):
        plain(x), plain(x[::-1]), nested(tree), nested(other)
    gc.collect()
    objects = (x, held["w"], tree["a"], tree["b"], np.dtype(float), plain._fast, nested._fast)
    before, count = [sys.getrefcount(item) for item in objects], len(gc.get_objects())
    for _ in range(200):
        plain(x), plain(x[::-1]), nested(tree), nested(other)
        held["w"] = held["w"]
    gc.collect()
    after = [sys.getrefcount(item) for item in objects]
    assert all(abs(one - other) < 20 for one, other in zip(before, after, strict=True))
    assert len(gc.get_objects()) - count < 50


def test_captured_arrays_outlive_the_call_that_reads_them():
    """An array that another thread replaces while the loops run without the GIL is not freed under them."""
    size = 20_000
    held = {"w": np.full(size, 2.0)}
    compiled, x = jit(lambda x: np.sum(np.sin(x) * held["w"])), np.full(size, 0.5)
    assert start(compiled, x)
    is_over = threading.Event()

    def replace():
        while not is_over.is_set():
            held["w"] = np.full(size, 2.0)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(200):
            np.testing.assert_allclose(compiled(x), size * 2 * np.sin(0.5), rtol=1e-12)
    finally:
        is_over.set()
        thread.join()


def test_methods_of_a_class():
    """A compiled method is called with its object, whose attributes are compared."""

    class Model:
        def __init__(self):
            self.scale = 2.0

        @jit
        def apply(self, x):
            return np.sin(x) * self.scale

    model, x = Model(), np.arange(3.0)
    for _ in range(4):
        np.testing.assert_allclose(model.apply(x), np.sin(x) * 2, rtol=1e-14)
    model.scale = 3.0
    np.testing.assert_allclose(model.apply(x), np.sin(x) * 3, rtol=1e-14)

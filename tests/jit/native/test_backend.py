"""Native code behind `jit`: compiled functions against eager ones."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.config import config
from gradtape.errors import JitWarning, OperandError
from gradtape.jit import jit
from gradtape.jit.native.backend import NativeBackend
from gradtape.jit.runtime.schedule import NativeGroup

from .fuzz import LAYOUTS, laid_out
from .programs import Builder


@pytest.fixture
def settings():
    """The settings, which are put back afterwards."""
    before = config.native, config.threads, config.native_features
    yield config
    config.native, config.threads, config.native_features = before


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def network(weights, bias, data):
    return np.mean(np.tanh(data @ weights + bias) ** 2)


def likelihood(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    return -np.mean(np.sum(labels * (shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))), axis=1))


def field(u):
    middle = slice(1, -1)
    total = -4.0 * u[middle, middle] + u[2:, middle] + u[:-2, middle] + u[middle, 2:] + u[middle, :-2]
    return np.sum(total * total)


def price(spot, time):
    root = 0.2 * np.sqrt(time)
    d = (np.log(spot) + 0.05 * time) / root
    return np.sum(spot * np.tanh(d) - np.exp(-0.05 * time) * np.arctan(d - root))


CASES = {
    "rosenbrock": (rosenbrock, [(10,)]),
    "network": (network, [(5, 8), (8,), (20, 5)]),
    "likelihood": (likelihood, [(12, 4), (12, 4)]),
    "field": (field, [(6, 50)]),
    "price": (price, [(100,), (100,)]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_gradients_agree_with_eager_ones(name, dtype):
    """Values and gradients of compiled functions are those of eager ones, in shape, dtype and value."""
    function, shapes = CASES[name]
    generator = np.random.default_rng(1)
    arrays = [generator.uniform(0.5, 2, shape).astype(dtype) for shape in shapes]
    everything = gt.value_and_grad(function, argnums=tuple(range(len(arrays))))
    value, gradients = everything(*arrays)
    found_value, found_gradients = jit(everything)(*arrays)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(np.asarray(found_value), np.asarray(value), rtol=tolerance)
    for found, expected in zip(found_gradients, gradients, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=tolerance, atol=tolerance)


def test_views_alone_are_left_to_numpy():
    """A group of nothing but views is not compiled: NumPy makes them without a copy."""
    builder = Builder()
    x = builder.input((4, 5))
    result = builder("getitem", x, index=(slice(1, None),))
    assert NativeBackend().compile_group(builder.instructions, [x], [result]) is None


def groups(compiled):
    """The native groups of the program that was run last."""
    return [step for step in compiled._last().runner.steps if isinstance(step, NativeGroup)]


def test_native_code_is_used_unless_it_is_switched_off(settings):
    """A program is one native group by default, and all kernels with `gt.config.native` off, with the same answer."""
    x = np.linspace(-1, 1, 10)
    native = jit(gt.value_and_grad(rosenbrock))
    value, gradient = native(x)
    assert len(groups(native)) == 1
    settings.native = False
    plain = jit(gt.value_and_grad(rosenbrock))
    other_value, other_gradient = plain(x)
    assert not groups(plain)
    np.testing.assert_allclose(value, other_value, rtol=1e-14)
    np.testing.assert_allclose(gradient, other_gradient, rtol=1e-13)


@pytest.mark.parametrize("how", LAYOUTS)
@pytest.mark.parametrize("shape", [(6, 5), (4, 0), (1, 1)])
@pytest.mark.production
def test_odd_arrays_give_the_eager_answer(how, shape):
    """Arrays that are strided, stretched, swapped, unaligned, read-only or empty give what they give without jit."""

    def function(x, y):
        return np.sum(np.sin(x[1:]) * y[:-1] + x[:-1] @ y.T[:, 1:] @ y[:-1])

    generator = np.random.default_rng(0)
    arrays = [laid_out(generator.normal(size=shape), how, generator) for _ in range(2)]
    eager = gt.value_and_grad(function, argnums=(0, 1))
    value, gradients = eager(*arrays)
    compiled = jit(eager)
    for _ in range(3):
        found, found_gradients = compiled(*arrays)
        np.testing.assert_allclose(found, np.asarray(value), rtol=1e-12, atol=1e-13)
        for one, other in zip(found_gradients, gradients, strict=True):
            np.testing.assert_allclose(one, np.asarray(other), rtol=1e-12, atol=1e-13)


@pytest.mark.production
def test_arguments_that_overlap():
    """Two arguments in the same memory are read before anything is written, and results are in memory of their own."""
    memory = np.linspace(0, 1, 12)
    compiled = jit(lambda x, y: (x + y, x * y))
    for _ in range(3):
        total, product = compiled(memory[:8], memory[4:])
        assert np.array_equal(total, memory[:8] + memory[4:])
        assert np.array_equal(product, memory[:8] * memory[4:])
        assert not np.may_share_memory(total, memory)
    windows = np.lib.stride_tricks.sliding_window_view(memory, 3)
    assert np.array_equal(jit(lambda x: x * 2.0 + 1.0)(windows), windows * 2.0 + 1.0)


def test_arrays_of_several_dtypes_are_joined_natively():
    """The rows of a matrix that is written out, with zeros and ones in between, in a loop; other dtypes beside it."""

    def rotated(angle, *others):
        found = gt.eye(3)
        for step in range(40):
            c, s = np.cos(angle * step), np.sin(angle * step)
            found = found @ gt.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        return np.sum(np.concatenate([found.reshape(-1), *others]))

    arguments = [np.float64(0.3), np.arange(3), np.array([True, False]), np.array([0.5], "float32")]
    compiled = jit(gt.value_and_grad(rotated))
    answer = compiled(*arguments)  # a kernel in the loop would be a warning
    assert len(groups(compiled)) == len(compiled._last().runner.steps)
    np.testing.assert_allclose(answer, gt.value_and_grad(rotated)(*arguments), rtol=1e-12)


def test_numbers_and_arrays_of_no_dimensions():
    """Results of no dimensions are NumPy's scalars on every way, those of later calls included."""
    compiled = jit(lambda x: np.sum(x * x) + 1.0)
    for given_array in (np.ones(3), np.ones(3), np.ones(3), np.ones((3, 1)), np.float64(2.0), np.array(2.0)):
        found = compiled(given_array)
        assert type(found) is np.float64
        assert found == np.sum(given_array**2) + 1


def is_native(compiled, *arguments, **named):
    """Whether a call takes the native way, without Python code of the library."""
    compiled.stats.counters.runs, compiled.stats.counters.is_latest = 4, False  # the next run is not examined
    compiled(*arguments, **named)
    return bool(compiled.stats.counters.is_latest)


@pytest.mark.production
def test_a_shortcut_is_taken_only_where_it_fits():
    """Repeated calls take a shorter way; other shapes, dtypes, layouts, classes and keywords are still right."""
    compiled = jit(lambda x: x * 2.0 + 1.0)
    x = np.arange(6.0)

    class Labelled(np.ndarray):
        """Another class of array."""

    for _ in range(3):
        assert np.array_equal(compiled(x), x * 2 + 1)
    assert is_native(compiled, x)
    assert np.array_equal(compiled(x[::2]), x[::2] * 2 + 1)
    assert np.array_equal(compiled(x.astype("float32")), x * 2 + 1)
    assert compiled(x.astype("float32")).dtype == np.float32
    assert np.array_equal(compiled(x=x), x * 2 + 1)
    assert isinstance(compiled(gt.tensor(x)), gt.Tensor)
    with pytest.warns(JitWarning):
        compiled(x.view(Labelled))
    with gt.no_grad():
        assert np.array_equal(compiled(x), x * 2 + 1)
    runs = compiled.stats.runs
    compiled(x)
    assert compiled.stats.runs == runs + 1
    compiled.clear()
    assert np.array_equal(compiled(x), x * 2 + 1)
    with pytest.raises(TypeError):
        compiled(x, x, x)


def mismatch(parameters, x, power=2.0, note=None):
    difference = np.tanh(x @ parameters["w"] + parameters["b"][0]) - parameters["b"][1]
    return {"loss": np.sum(np.abs(difference) ** power), "each": [difference, None]}


@pytest.mark.production
def test_a_shortcut_through_nested_arguments():
    """Dictionaries, lists and named arguments of arrays take the shorter way, and no other structure does."""
    compiled = jit(mismatch)
    generator = np.random.default_rng(0)
    w, x, b, c = (generator.normal(size=shape) for shape in [(3, 2), (4, 3), (2,), (4, 2)])

    def check(*arguments, **named):
        found, wanted = compiled(*arguments, **named), mismatch(*arguments, **named)
        assert list(found) == list(wanted)
        np.testing.assert_allclose(found["loss"], wanted["loss"], rtol=1e-12)
        np.testing.assert_allclose(found["each"][0], wanted["each"][0], rtol=1e-12)
        assert found["each"][1] is None

    given = {"w": w, "b": [b, c]}
    calls = [
        lambda: check(given, x),
        lambda: check(given, x=x),
        lambda: check(given, x, 3.0),
        lambda: check(given, x, 3),
        lambda: check(given, x, 2.0, "text"),
        lambda: check({"b": [b, c], "w": w}, x),
        lambda: check({**given, "z": x}, x),
        lambda: check({"w": w, "b": (b, c)}, x),
        lambda: check({"w": w, "b": [b, c, x]}, x),
        lambda: check(given, x[::-1]),
        lambda: check({"w": w, "b": [b, 0.5]}, x),
        lambda: check(given, x.astype("float32")),
        lambda: check(given, x, note=1),
    ]
    for call in calls:
        for _ in range(3):
            call()
    traces = compiled.stats.traces
    for call in calls + calls[::-1]:
        call()
    assert compiled.stats.traces == traces
    others = [(given, x, 2.0), ({"b": [b, c], "w": w}, x), (given, x[::-1])]
    for arguments in others:
        compiled(given, x)
        assert is_native(compiled, given, x)
        assert not is_native(compiled, *arguments)
    compiled(given, x)
    assert not is_native(compiled, given, x=x)
    for arguments in [(given,), ({"w": w}, x), ([w], x), (given, None), ()]:
        with pytest.raises((TypeError, KeyError, ValueError)):
            compiled(*arguments)


@pytest.mark.production
def test_a_shortcut_reads_arrays_again():
    """Arrays that the function reads by name are read by the shorter way, too, as they are at that moment."""
    held = {"w": np.array([1.0, 2.0])}
    compiled = jit(lambda x: np.sin(x * held["w"]))
    x = np.array([0.5, 0.25])
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), np.sin(x * [1, 2]), rtol=1e-14)
    assert is_native(compiled, x)
    held["w"][0] = 3.0
    np.testing.assert_allclose(compiled(x), np.sin(x * [3, 2]), rtol=1e-14)
    held["w"] = np.array([0.0, 1.0])
    assert is_native(compiled, x)
    np.testing.assert_allclose(compiled(x), np.sin(x * [0, 1]), rtol=1e-14)
    held["w"] = np.ones((2, 2))
    assert not is_native(compiled, x)
    held["w"] = 2.0
    np.testing.assert_allclose(compiled(x), np.sin(x * 2), rtol=1e-14)


scale = 2.0
table = np.array([1.0, 2.0])


@pytest.mark.production
def test_what_is_read_besides_the_arguments_is_read_again():
    """A shortcut does not outlive the number, array or function that the program was made with."""
    global scale, table
    by_number, by_array = jit(lambda x: x * scale + 1.0), jit(lambda x: np.sin(x) * table)
    x = np.array([1.0, 3.0])
    for _ in range(3):
        assert np.array_equal(by_number(x), [3.0, 7.0])
        np.testing.assert_allclose(by_array(x), np.sin(x) * [1, 2], rtol=1e-14)
    scale, table = 3.0, np.array([0.0, 5.0])
    for _ in range(3):
        assert np.array_equal(by_number(x), [4.0, 10.0])
        np.testing.assert_allclose(by_array(x), np.sin(x) * [0, 5], rtol=1e-14)
    table[1] = 7.0
    np.testing.assert_allclose(by_array(x), np.sin(x) * [0, 7], rtol=1e-14)
    scale = 2.0
    assert np.array_equal(by_number(x), [3.0, 7.0])


@pytest.mark.production
def test_guards_hold_in_every_call():
    """A program with a branch is never entered by the shorter way without looking at the branch."""

    def clipped(x):
        return x / 2.0 if np.sum(x) > 1.0 else x * 3.0 - 1.0

    compiled = jit(clipped)
    for number in (1.0, 0.1, 1.0, 0.1, 1.0, 1.0, 0.1):
        x = np.full(4, number)
        assert np.array_equal(compiled(x), clipped(x))


def test_kernels_in_between():
    """What has no native form runs its kernel between native stretches, views of it without a copy."""

    def function(x):
        ordered = np.sort(np.sin(x) ** 2)
        return np.sum(np.cumsum(ordered)[::-1] * np.exp(x)), ordered.T

    x = np.random.default_rng(0).normal(size=20)
    compiled = jit(function)
    found, expected = compiled(x), function(x)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-14)
    assert groups(compiled)


@pytest.mark.parametrize("features", ["-avx512f", "-avx512f,-avx2,-fma", "-avx512f,-avx2,-avx,-fma,-sse4.2,-sse4.1"])
def test_code_without_some_instruction_sets(features, settings):
    """Machines without wide vectors or fused operations get the right answers."""
    function, shapes = CASES["likelihood"]
    generator = np.random.default_rng(1)
    arrays = [generator.uniform(0.5, 2, shape) for shape in shapes]
    expected = gt.value_and_grad(function)(*arrays)
    settings.native_features = features
    found = jit(gt.value_and_grad(function))(*arrays)
    np.testing.assert_allclose(found[0], np.asarray(expected[0]), rtol=1e-13)
    np.testing.assert_allclose(found[1], np.asarray(expected[1]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "two"])
def test_numbers_of_threads_that_make_no_sense(threads):
    """A wrong number of threads is refused where it is set, with what is wanted."""
    before = config.threads
    with pytest.raises(OperandError, match="an integer of at least 1, or None"):
        config.threads = threads
    assert config.threads == before


@pytest.mark.parametrize("features", ["avx2", "-", "-avx2,fma", "-avx2 -fma", None])
def test_instruction_sets_that_make_no_sense(features):
    """Instruction sets without a sign are refused where they are set."""
    before = config.native_features
    with pytest.raises(OperandError, match="with a sign"):
        config.native_features = features
    assert config.native_features == before


def test_memory_counts_what_native_code_keeps():
    """`memory` includes what native code keeps between its loops."""
    compiled = jit(lambda x: np.sin(x - np.mean(np.exp(x))) * np.exp(x))
    compiled(np.ones(100_000))
    assert compiled.memory >= 2 * 800_000

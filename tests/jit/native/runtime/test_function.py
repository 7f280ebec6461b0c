"""Native functions of groups of instructions, against the NumPy kernels."""

import gc
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradtape.config import config
from gradtape.jit.ir.program import Instruction, Value
from gradtape.jit.native.backend import NativeBackend
from gradtape.jit.native.emit.elementwise import EMITTERS, LOGIC, RELATIONS
from gradtape.jit.native.lower.support import REDUCTIONS, supports
from gradtape.jit.native.runtime import entry as calls
from gradtape.jit.native.runtime import threads
from gradtape.jit.native.schedule.fusion import FusionPlan
from gradtape.jit.native.schedule.layout import Unsupported

from ..fuzz import LAYOUTS, OF_TWO, assert_same_alone_and_together, laid_out, numbers, programs
from ..kernels import oldest
from ..programs import Builder, assert_close, by_kernel, by_kernels, table


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(most=6))
def test_what_is_stored_makes_no_difference(case):
    """Every value has the same bits whether or not others are computed or stored in the same loops."""
    assert_same_alone_and_together(*case)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((17, 40, 3), (1, 2)),
        ((5, 70, 70), (0, 2)),
        ((300, 3, 5), (0, 1)),
        ((1, 1, 9000), None),
    ],
)
def test_sums_are_the_same_in_any_company(shape, axis):
    """The order of a sum depends on its shape and axes alone, not on the body of its loops or what is stored."""
    builder = Builder()
    x, row, column = builder.input(shape), builder.input(shape[-1:]), builder.input((*shape[:-1], 1), "float32")
    square = builder("multiply", x, x)
    builder("sum", square, axis=axis, keepdims=False)
    wave = builder("exp", builder("subtract", builder("sin", builder("add", x, row)), column))
    builder("mean", builder("multiply", wave, square), axis=axis, keepdims=True)
    generator = np.random.default_rng(sum(shape))
    arrays = [generator.normal(size=value.shape).astype(value.dtype) for value in builder.inputs]
    assert_same_alone_and_together(builder, arrays)


def instructions_of_every_kind():
    for name in sorted({*EMITTERS, *RELATIONS, *LOGIC} - {"astype", "broadcast_to", "where", "clip"}):
        if name in table():
            for dtype in ("float64", "float32", "int64", "bool"):
                yield name, dtype


@pytest.mark.parametrize(("name", "dtype"), list(instructions_of_every_kind()))
def test_every_emitter_agrees_with_its_kernel(name, dtype):
    """Each operation that has an emitter gives what its kernel gives, special values included."""
    generator = np.random.default_rng(4)
    builder = Builder()
    operands = [builder.input((3, 41), dtype) for _ in range(2 if name in OF_TWO else 1)]
    try:
        result = builder(name, *operands)
    except TypeError:  # NumPy has no such operation on this dtype
        return
    if supports(builder.instructions[0]):
        arrays = [numbers((3, 41), dtype, generator) for _ in operands]
        (found,) = builder.group(result)(*arrays)
        known = dict(zip(operands, arrays, strict=True))
        assert_close(builder.instructions[0], found, by_kernel(builder.instructions[0], known), known)


def test_most_of_the_emitters_belong_to_a_row():
    """The names of emitters are names of the operation table."""
    names = {*EMITTERS, *RELATIONS, *LOGIC, *REDUCTIONS}
    assert not names - set(table())


@pytest.mark.parametrize("given_dtype", ["float64", "float32", "int64", "int16", "uint8", "bool"])
@pytest.mark.parametrize("wanted", ["float64", "float32", "int64", "int16", "uint8", "bool"])
def test_casts_agree_with_numpy(given_dtype, wanted):
    """A cast gives what astype gives, wherever there is an emitter for it."""
    builder = Builder()
    operand = builder.input((37,), given_dtype)
    result = Value(1, (37,), np.dtype(wanted))
    cast = Instruction(table()["astype"], (operand,), {"dtype": np.dtype(wanted)}, (result,))
    array = numbers((37,), given_dtype, np.random.default_rng(1))
    with np.errstate(all="ignore"):
        array = np.clip(array, -1e6, 1e6) if array.dtype.kind == "f" else array
        if supports(cast) and not (np.dtype(wanted).kind in "iu" and array.dtype.kind == "f" and np.isnan(array).any()):
            builder.instructions.append(cast)
            assert np.array_equal(builder.group(result)(array)[0], array.astype(wanted), equal_nan=True)


@pytest.mark.parametrize("axis", [None, (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), ()])
@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_reductions_along_all_axes(name, axis):
    """Reductions fused with what they reduce are right along any axes."""
    builder = Builder()
    x = builder.input((6, 150, 9))
    y = builder("multiply", x, 1.01)
    result = builder(name, y, axis=axis, keepdims=False)
    if supports(builder.instructions[-1]):
        array = np.random.default_rng(2).normal(size=(6, 150, 9)) * 0.1 + 1
        (expected,) = by_kernels(builder, [array], [result])
        np.testing.assert_allclose(builder.group(result)(array)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 15, 16, 17, 31, 255, 8191, 8192, 8193, 20000])
def test_lengths_around_vectors_and_chunks(size):
    """Every element and every sum is right, however the length divides into vectors and chunks."""
    builder = Builder()
    x = builder.input((size,))
    y = builder("multiply", x, x)
    results = y, builder("sum", y, axis=None, keepdims=False), builder("max", y, axis=None, keepdims=False)
    array = np.random.default_rng(size).normal(size=size)
    square, total, largest = builder.group(*results)(array)
    assert np.array_equal(square, array * array)
    assert abs(total - np.sum(array * array)) <= 1e-15 * np.sum(array * array)
    assert largest == np.max(array * array)


@pytest.mark.parametrize("shape", [(1000, 7), (3000, 40), (130, 1), (2, 70000)])
def test_tall_and_wide_sums(shape):
    """Sums of columns and rows that take many units are right to the last digits."""
    for axis in (0, 1):
        builder = Builder()
        x = builder.input(shape)
        result = builder("mean", builder("exp", x), axis=(axis,), keepdims=True)
        array = np.random.default_rng(0).normal(size=shape)
        np.testing.assert_allclose(builder.group(result)(array)[0], np.exp(array).mean(axis, keepdims=True), rtol=1e-14)


def test_float32_sums_are_accurate():
    """A sum of a million float32 numbers is the rounded exact sum."""
    builder = Builder()
    x = builder.input((1_000_000,), "float32")
    array = np.random.default_rng(0).random(1_000_000).astype("float32")
    (total,) = builder.group(builder("sum", x, axis=None, keepdims=False))(array)
    assert total.dtype == np.float32
    assert total == np.float32(array.astype(float).sum())


def test_a_softmax_in_one_group():
    """Nests that depend on each other's reductions are run in order."""
    builder = Builder()
    x = builder.input((50, 33))
    top = builder("max", x, axis=(1,), keepdims=True)
    powers = builder("exp", builder("subtract", x, top))
    result = builder("divide", powers, builder("sum", powers, axis=(1,), keepdims=True))
    array = np.random.default_rng(0).normal(size=(50, 33)) * 10
    (expected,) = by_kernels(builder, [array], [result])
    np.testing.assert_allclose(builder.group(result)(array)[0], expected, rtol=1e-14)


@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_the_number_of_threads_changes_no_bit(number, monkeypatch):
    """Large loops give the same bits with any number of threads."""
    builder = Builder()
    x = builder.input((300, 1501))
    y = builder("sin", x)
    results = [y] + [builder("sum", y, axis=axis, keepdims=False) for axis in (None, (0,), (1,))]
    group = builder.group(*results)
    array = np.random.default_rng(0).normal(size=(300, 1501))
    assert any(threads.worth_splitting(nest) for nest in group.nests)
    monkeypatch.setattr(config, "threads", 1)
    expected = [found.tobytes() for found in group(array)]
    monkeypatch.setattr(config, "threads", number)
    assert [found.tobytes() for found in group(array)] == expected


def test_old_machines_agree_with_new_ones():
    """Code for a machine without the host's instruction sets gives the kernels' results, too."""
    builder = Builder()
    x, y = builder.input((19, 23)), builder.input((23,), "float32")
    value = builder("add", builder("sin", x), builder("floor", y))
    outputs = value, builder("sum", value, axis=(0,), keepdims=False), builder("less", x, y)
    arrays = [np.random.default_rng(0).normal(size=(19, 23)), np.linspace(-3, 3, 23, dtype="float32")]
    for found, expected in zip(
        builder.group(*outputs, machine=oldest())(*arrays), by_kernels(builder, arrays, outputs), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_steps_of_inputs_are_read_in_place():
    """A group for transposed and stretched inputs reads them as they are, and others by way of a copy."""
    builder = Builder()
    x, y = builder.input((30, 20)), builder.input((30, 20))
    result = builder("add", x, y)
    group = builder.group(result, steps={x: (1, 30), y: (0, 1)})
    generator = np.random.default_rng(0)
    columns, row = generator.normal(size=(20, 30)).T, np.broadcast_to(generator.normal(size=20), (30, 20))
    assert np.array_equal(group(columns, row)[0], columns + row)
    plain = generator.normal(size=(30, 20))
    assert np.array_equal(group(plain, plain)[0], plain + plain)


def test_slices_and_scatters_in_one_group():
    """Slices are read in place, scatters fill the rest with zeros, and both go together with arithmetic."""
    builder = Builder()
    x = builder.input((20, 30))
    ahead, behind = (builder("getitem", x, index=(slice(None), s)) for s in (slice(1, None), slice(None, -1)))
    slope = builder("subtract", builder("square", ahead), behind)
    back = [
        builder("scatter", slope, index=(slice(None), s), shape=(20, 30)) for s in (slice(1, None), slice(None, -1))
    ]
    turned = builder("transpose", builder("add", *back), axes=(1, 0))
    results = slope, builder("exp", turned), builder("getitem", turned, index=(slice(None, None, -3), 2))
    array = np.random.default_rng(0).normal(size=(20, 30))
    for found, expected in zip(builder.group(*results)(array), by_kernels(builder, [array], results), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("shape", [(5, 3), (40, 8), (9, 17), (30, 63), (7, 2, 40), (4, 9, 5), (2, 3, 5, 11)])
@pytest.mark.parametrize("step", [1, 2])
def test_short_rows_that_are_not_side_by_side(shape, step):
    """Sums over slices with rows shorter than a vector, or a few vectors long, read and write where each row is."""
    builder = Builder()
    inside = tuple(slice(1, 1 + step * length, step) for length in shape)
    whole = tuple(2 + step * length for length in shape)
    x = builder.input(whole)
    part = builder("getitem", x, index=inside)
    spread = builder("scatter", builder("multiply", part, 3.0), index=inside, shape=whole)
    results = builder("sum", builder("square", part), axis=None, keepdims=False), spread
    array = np.random.default_rng(0).normal(size=whole)
    for found, expected in zip(builder.group(*results)(array), by_kernels(builder, [array], results), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.production
def test_a_small_group_is_one_function():
    """Short steps become a part of the function that runs them; steps that threads may share stay by themselves."""

    def functions(size):
        builder = Builder()
        x = builder.input((size,))
        parts = [builder("scatter", x, index=(slice(i, i + size),), shape=(size + 9,)) for i in (0, 3, 9)]
        group = builder.group(builder("add", builder("add", *parts[:2]), parts[2]))
        assert group.text.count("define") > 1
        return [line for line in group.assembly.splitlines() if line.endswith(":") and line[0] not in ". "]

    assert functions(20) == ["run:"]
    assert functions(1_000_000)[0] != "run:"


@pytest.mark.parametrize("shape", [(40,), (9000,), (3, 34), (5, 4, 50), (33, 2, 3)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_sums_of_virtual_scatters(shape, dtype):
    """Scatters at several offsets that only go into arithmetic give the bits they give when they are made."""
    builder = Builder()
    x = builder.input(shape, dtype)
    inner = builder("subtract", builder("multiply", x, x), 3)
    larger = tuple(n + 2 for n in shape)
    parts = []
    for shift in range(3):
        index = tuple(slice((shift + axis) % 3, (shift + axis) % 3 + n) for axis, n in enumerate(shape))
        parts.append(builder("scatter", inner, index=index, shape=larger))
    total = builder("add", builder("add", builder("negative", parts[0]), parts[1]), parts[2])
    stretched = builder("multiply", total, builder.input((2, *larger), dtype))
    outputs = [total, stretched, builder("sum", total, axis=(0,), keepdims=False)]
    back = builder("getitem", total, index=tuple(slice(1, -1) for _ in shape))
    outputs.append(builder("add", back, x))
    generator = np.random.default_rng(0)
    arrays = [numbers(value.shape, dtype, generator) for value in builder.inputs]
    arrays[0] = np.where(np.isnan(arrays[0]), 1, arrays[0]).astype(dtype)
    found = builder.group(*outputs)(*arrays)
    made = builder.group(*outputs, *parts)(*arrays)
    for one, other in zip(found, made, strict=False):
        assert one.tobytes() == other.tobytes()
    for one, expected in zip(found[:2], by_kernels(builder, arrays, outputs[:2]), strict=True):
        assert np.array_equal(one, expected, equal_nan=True)


@pytest.mark.parametrize("index", [(True, slice(1, None)), (np.True_,), (np.int64(1),)])
def test_indices_that_copy_are_not_views(index):
    """Truth values among the indices make copies in NumPy, and have no native form."""
    builder = Builder()
    x = builder.input((3,))
    picked = builder("getitem", x, index=index)
    assert not supports(builder.instructions[-1])
    builder("scatter", picked, index=index, shape=(3,))
    assert not supports(builder.instructions[-1])


def test_what_is_dear_is_not_computed_for_every_row():
    """A function of a row that goes with all rows of a matrix is computed once, and that of a column in its row."""
    builder = Builder()
    x, row, column = builder.input((50, 40)), builder.input((40,)), builder.input((50, 1))
    product = builder("multiply", builder("multiply", x, builder("exp", row)), builder("exp", column))
    plan = FusionPlan(builder.instructions, builder.inputs, [product])
    found = [(nest.shape, [i.name for i in nest.instructions].count("exp")) for nest in plan.nests]
    assert found == [((40,), 1), ((50, 40), 1)]
    arrays = [np.random.default_rng(0).normal(size=value.shape) for value in builder.inputs]
    expected = arrays[0] * np.exp(arrays[1]) * np.exp(arrays[2])
    np.testing.assert_allclose(builder.group(product)(*arrays)[0], expected, rtol=1e-14)


def test_reshapes_of_views_copy_first():
    """A reshape of a transpose, which is no view, goes by way of memory."""
    builder = Builder()
    x = builder.input((6, 4))
    flat = builder("reshape", builder("transpose", builder("add", x, 1.0), axes=(1, 0)), shape=(24,))
    array = np.arange(24.0).reshape(6, 4)
    assert np.array_equal(builder.group(builder("negative", flat))(array)[0], -(array + 1).T.reshape(24))


def test_outputs_may_overlap_inputs():
    """Writing into memory that is read at the same time gives what separate memory would."""
    builder = Builder()
    x = builder.input((37,))
    group = builder.group(builder("add", x, 1.0))
    memory = np.arange(40.0)
    expected = memory[:37] + 1
    group.write([memory[:37]], [memory[3:]])
    assert np.array_equal(memory[3:], expected)
    strided = np.zeros((37, 2))
    group.write([expected], [strided[:, 1]])
    assert np.array_equal(strided[:, 1], expected + 1)
    assert not strided[:, 0].any()


def test_outputs_are_fresh():
    """No output shares memory with an input, another output or the output of another call."""
    builder = Builder()
    x = builder.input((12,))
    y = builder("positive", x)
    group = builder.group(y, x, y)
    array = np.arange(12.0)
    results = [array, *group(array), *group(array)]
    assert all(np.array_equal(found, array) for found in results)
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(results, 2))


@pytest.mark.parametrize(
    "wrong", [np.ones(4), np.ones((3, 1)), np.ones(3, "float32"), np.ones(3, complex), 1.0, None, "abc", [1.0, 2.0]]
)
@pytest.mark.production
def test_wrong_arrays_are_refused(wrong):
    """An array of another shape or dtype is an error that says what is needed, by both ways of calling."""
    builder = Builder()
    x = builder.input((3,))
    group = builder.group(builder("sin", x))
    for call in (group, calls.entry(group)):
        with pytest.raises(ValueError, match=r"float64 of shape \(3,\) is needed"):
            call(wrong)
        with pytest.raises(ValueError, match="2 arrays were given for 1 inputs"):
            call(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        group.write([np.ones(3)], [np.broadcast_to(1.0, (3,))])
    with pytest.raises(ValueError, match="0 arrays were given for 1 outputs"):
        group.write([np.ones(3)], [])


@pytest.mark.parametrize("how", LAYOUTS)
@pytest.mark.production
def test_the_native_entry_takes_any_layout(how):
    """The native entry hands what it cannot read to the slower way, which gives the same bits."""
    builder = Builder()
    x = builder.input((5, 9))
    entry = calls.entry(builder.group(builder("cos", x)))
    array = np.random.default_rng(0).normal(size=(5, 9))
    odd = laid_out(array, how, None)
    assert entry(odd)[0].tobytes() == entry(np.array(odd, dtype=float, order="C"))[0].tobytes()

    class Labelled(np.ndarray):
        """Another class of array."""

    assert type(entry(array.view(Labelled))[0]) is np.ndarray


@pytest.mark.production
def test_the_native_entry_leaks_nothing():
    """Reference counts of arguments and dtypes stay as they were; results are owned by the caller alone."""
    builder = Builder()
    x = builder.input((70, 90))
    entry = calls.entry(builder.group(builder("sum", builder("exp", x), axis=(0,), keepdims=False), builder("exp", x)))
    array = np.ones((70, 90))
    before = sys.getrefcount(array), sys.getrefcount(np.float64)
    for _ in range(100):
        results = entry(array)
    assert (sys.getrefcount(array), sys.getrefcount(np.float64)) == before
    assert all(sys.getrefcount(found) <= 3 for found in results)
    assert all(found.flags.owndata and found.flags.writeable for found in results)


@pytest.mark.production
def test_code_lives_as_long_as_its_function():
    """A native entry keeps its `NativeFunction` alive."""
    builder = Builder()
    x = builder.input((4,))
    entry = calls.entry(builder.group(builder("add", x, 2.0)))
    del builder
    gc.collect()
    assert np.array_equal(entry(np.zeros(4))[0], np.full(4, 2.0))


@pytest.mark.production
def test_functions_are_collected_in_any_order():
    """Functions and groups that refer to each other can be dropped by the garbage collector, and memory used again."""
    array = np.arange(4.0)
    for number in range(12):
        builder = Builder()
        x = builder.input((4,))
        entry = calls.entry(builder.group(builder("add", x, float(number % 5))))
        assert np.array_equal(entry(array)[0], array + number % 5)
        del builder, entry
        gc.collect()


def test_numbers_beyond_the_dtype_are_infinite():
    """A Python number that float32 cannot hold is infinite there, as in NumPy, without a warning on compilation."""
    builder = Builder()
    x = builder.input((4,), "float32")
    assert np.isinf(builder.group(builder("add", x, 1e300))(np.ones(4, "float32"))[0]).all()


def test_unsupported_instructions_are_refused():
    """An instruction without a native form is refused when the group is compiled, and the backend says so before."""
    builder = Builder()
    x = builder.input((4,), "complex128")
    result = builder("exp", x)
    assert not NativeBackend().supports(builder.instructions[0])
    with pytest.raises(Unsupported, match="exp has no native form"):
        builder.group(result)


@pytest.mark.parametrize("length", [3, 100])
@pytest.mark.parametrize("name", ["sin", "square", "logaddexp"])
def test_long_groups(name, length):
    """Groups of many instructions, whose functions are emitted once and called, give what the kernels give."""
    builder = Builder()
    x, y = builder.input((23,)), builder.input((23,), "float32")
    value, other = x, y
    for _ in range(length):
        value = builder(name, *[value] * (2 if name in OF_TWO else 1))
        other = builder("sin", other)
        value = builder("subtract", builder("multiply", value, 0.25), x)
    arrays = [np.linspace(-1, 1, 23), np.linspace(-1, 1, 23, dtype="float32")]
    for found, expected in zip(
        builder.group(value, other)(*arrays), by_kernels(builder, arrays, [value, other]), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12 if found.dtype == float else 1e-4)


@pytest.mark.production
def test_threads_compile_and_call_at_once():
    """Several threads that compile and call groups at the same time all get the right answers."""

    def work(seed):
        size = 5 + seed % 7
        builder = Builder()
        x = builder.input((size,))
        y = builder("multiply", builder("exp", x), float(1 + seed))
        entry = calls.entry(builder.group(y, builder("sum", y, axis=None, keepdims=False)))
        array = np.linspace(-1, 1, size)
        expected = np.exp(array) * (1 + seed)
        for _ in range(200):
            found, total = entry(array)
            np.testing.assert_allclose(found, expected, rtol=1e-14)
            np.testing.assert_allclose(total, expected.sum(), rtol=1e-14)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(10)))


@pytest.mark.production
def test_the_same_code_is_compiled_once():
    """Two groups of the same instructions and shapes share their code; another shape has its own."""

    def library(size):
        builder = Builder()
        x = builder.input((size,))
        return builder.group(builder("expm1", x)).library

    assert library(321) is library(321)
    assert library(321) is not library(322)


def test_loops_are_vectorised():
    """A fused loop of arithmetic works on packed numbers."""
    builder = Builder()
    x = builder.input((1024,))
    text = builder.group(builder("add", builder("multiply", x, x), 1.0)).assembly
    if "xmm" in text or "ymm" in text:
        assert "mulpd" in text
        assert "mulsd" not in text

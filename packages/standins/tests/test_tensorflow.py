"""The stand-in for TensorFlow: tensors, variables, dtypes, printing and errors."""

from __future__ import annotations

import copy
import io
import pickle
import warnings

import numpy as np
import pytest

import gradtape as gt
from gradtape_standins import tensorflow as tf

UNARY = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "sqrt",
    "square",
    "abs",
    "negative",
    "sigmoid",
]
MATH_UNARY = [
    "log",
    "log1p",
    "expm1",
    "erf",
    "erfc",
    "lgamma",
    "digamma",
    "softplus",
    "softsign",
    "rsqrt",
    "reciprocal",
    "asinh",
    "atanh",
    "erfinv",
]
NN_UNARY = ["relu", "elu", "selu", "gelu", "silu", "leaky_relu", "softmax", "log_softmax", "relu6", "crelu"]
FUNCTIONS = [
    *((name, getattr(tf, name)) for name in UNARY),
    *((f"math.{name}", getattr(tf.math, name)) for name in MATH_UNARY),
    *((f"nn.{name}", getattr(tf.nn, name)) for name in NN_UNARY),
    *((name, getattr(tf, name)) for name in ("reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min")),
    *((f"math.{name}", getattr(tf.math, name)) for name in ("cumsum", "cumprod", "reduce_std", "reduce_logsumexp")),
    ("linalg.inv", lambda x: tf.linalg.inv(tf.linalg.diag(x) + 0.1)),
    ("linalg.cholesky", lambda x: tf.linalg.cholesky(tf.linalg.diag(x) + 0.01)),
    ("gather", lambda x: tf.gather(x, [2, 0, 0])),
    ("pad", lambda x: tf.pad(x, [[1, 2]], "SYMMETRIC")),
    ("norm", tf.norm),
    ("einsum", lambda x: tf.einsum("i,j->ij", x, x)),
    ("math.cumulative_logsumexp", tf.math.cumulative_logsumexp),
    ("math.unsorted_segment_mean", lambda x: tf.math.unsorted_segment_mean(x, [1, 0, 1], 2)),
    ("math.xdivy", lambda x: tf.math.xdivy(x, x + 1.0)),
    ("math.polyval", lambda x: tf.math.polyval([1.0, -2.0, 3.0], x)),
    ("signal.rfft", lambda x: tf.abs(tf.signal.rfft(x))),
    ("nn.l2_loss", tf.nn.l2_loss),
    ("clip_by_value", lambda x: tf.clip_by_value(x, 0.3, 0.6)),
]


@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_gradient_is_the_slope(name: str, function: object) -> None:
    """The gradient of each function, in double precision, is what finite differences give, in the source's shape."""
    point = np.array([0.21, 0.53, 0.74])
    x = tf.Variable(point)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sin(function(x)))
    gradient = tf.convert_to_tensor(tape.gradient(y, x))
    assert gradient.shape == x.shape
    assert gradient.dtype == tf.float64
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-6
        ends = [tf.reduce_sum(tf.sin(function(tf.constant(point + sign * step)))).numpy() for sign in (1, -1)]
        assert gradient.numpy()[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", [name for name in UNARY + MATH_UNARY if name not in ("abs", "negative", "square")])
def test_functions_of_real_numbers_refuse_integers(name: str) -> None:
    """No integer becomes a floating point number by itself."""
    function = getattr(tf, name, None) if name in UNARY else getattr(tf.math, name)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"int32[\s\S]*tf.cast"):
        function(tf.constant([1, 2]))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtype_stays_all_the_way(dtype: str) -> None:
    """A computation and its gradient have the dtype that they began with."""
    x = tf.Variable([1.0, 2.0], dtype=dtype)
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tf.exp(-x * 2) + 1 / x + tf.math.cumsum(x) ** 2)
    assert y.dtype == tape.gradient(y, x).dtype == dtype


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_prod, tf.reduce_max, tf.reduce_mean, tf.math.cumsum])
def test_reductions_of_integers_keep_their_dtype(reduce: object) -> None:
    """NumPy widens sums of integers; TensorFlow does not."""
    assert reduce(tf.constant([1, 2, 3])).dtype == tf.int32
    assert reduce(tf.constant([1, 2, 3], tf.int8)).dtype == tf.int8


def test_value_of_a_tensor_is_a_copy() -> None:
    """What `.numpy()` returns can be written to, and the tensor stays as it is."""
    x = tf.constant([1.0, 2.0])
    array = x.numpy()
    array[0] = 9.0
    assert x.numpy().tolist() == [1.0, 2.0]
    given = np.array([1.0, 2.0])
    y = tf.constant(given)
    given[0] = 9.0
    assert y.numpy().tolist() == [1.0, 2.0]


def test_error_carries_gradtapes_finding_and_the_users_line() -> None:
    """An error of TensorFlow's class has our message, with this file's line, and the finding as data."""
    left, right = tf.ones([2, 3]), tf.ones([4])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        left * right
    assert "left * right" in str(caught.value)
    assert "test_tensorflow.py" in str(caught.value)
    assert caught.value.problem.code == "GT110"
    assert "standins" not in str(caught.value)


def test_mixed_dtypes_name_the_users_line() -> None:
    """Errors of the stand-in's own point at the user's expression too."""
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tf.ones") as caught:
        tf.ones([2]) + tf.constant(1)
    assert "test_tensorflow.py" in str(caught.value)


def test_operations_are_recorded_at_the_users_line() -> None:
    """The graph knows the line of the user, not one inside of the stand-in."""
    x = tf.Variable([1.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.sqrt(x) * tf.nn.relu(x))
    assert "test_tensorflow.py" in str(tape.why(y, x))
    assert "gradtape_standins" not in str(tape.why(y, x))


def test_accidental_broadcast_is_warned_of() -> None:
    """What gradtape finds, it finds through the stand-in, with the user's names."""
    prediction, target = tf.Variable(np.ones((5, 1))), tf.constant(np.ones(5))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((prediction - target) ** 2)
    with pytest.warns(gt.BroadcastWarning, match=r"prediction - target"):
        assert tape.gradient(loss, prediction, unconnected_gradients="zero").shape == (5, 1)


def test_missing_names_say_what_is_nearest() -> None:
    """A name that is not there is an error that offers those that are, or says why."""
    with pytest.raises(AttributeError, match=r"tensorflow.reduce_sun[\s\S]*tensorflow.reduce_sum"):
        tf.reduce_sun  # noqa: B018
    with pytest.raises(AttributeError, match="TensorFlow 1"):
        tf.placeholder  # noqa: B018
    with pytest.raises(AttributeError, match=r"tf.reduce_sum\(x\)"):
        tf.constant([1.0]).sum()
    with pytest.raises(AttributeError, match="downloaded"):
        tf.keras.datasets  # noqa: B018


def test_whole_structures_are_kept() -> None:
    """Sources in dictionaries, tuples and lists: the gradients come back in the same structure."""
    a, b, n = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(1)
    with tf.GradientTape(persistent=True) as tape:
        y = a * b
    answer = tape.gradient(y, {"b": b, "more": [a, (b, a)]})
    assert float(answer["b"]) == 2.0
    assert float(answer["more"][1][1]) == 3.0
    assert [g is None for g in tape.gradient(y, [a, n])] == [False, True]
    assert tape.gradient(y, [a, n], unconnected_gradients="zero")[1].numpy() == 0


def test_integers_are_complained_of_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """A watched integer has no gradient; TensorFlow's logger says so."""
    x = tf.constant([1, 2], tf.int16)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None
    assert "WARNING:tensorflow:The dtype of the watched tensor must be floating" in capsys.readouterr().err


def test_numpy_takes_the_numbers_and_leaves_a_cut() -> None:
    """`np.mean(x)` gives an array, as with TensorFlow, and `why` names the line where the gradient was lost."""
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.constant(np.mean(x)) * 2.0
    assert tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.NONE) is None
    assert "np.mean(x)" in str(tape.why(y, x))


def test_seed_of_the_wrong_shape_is_refused() -> None:
    """TensorFlow lets it through to blow up elsewhere; here the shapes are compared."""
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_gradients"):
        tape.gradient(y, x, output_gradients=tf.constant(1.0))


def test_custom_gradient_that_returns_the_wrong_shape_is_blamed() -> None:
    """The rule is named; nothing is summed into place."""

    @tf.custom_gradient
    def careless(x: object) -> object:
        return x * 2.0, lambda upstream: tf.reduce_sum(upstream)

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = careless(x)
    with pytest.raises(ValueError, match="careless"):
        tape.gradient(y, x)


def test_custom_gradient_with_variables_wants_the_keyword() -> None:
    """A function that reads variables needs a rule that takes them."""
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x: object) -> object:
        return x * v, lambda upstream: upstream

    with tf.GradientTape(), pytest.raises(TypeError, match="variables"):
        scaled(tf.constant(1.0))


def test_variables_keep_shape_and_dtype() -> None:
    """Assignments convert numbers, and refuse other shapes and dtypes; slices can be assigned to."""
    v = tf.Variable([1.0, 2.0, 3.0])
    v[1:].assign([5, 6])
    v[0].assign_add(10.0)
    assert v.numpy().tolist() == [11.0, 5.0, 6.0]
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign([1.0])
    with pytest.raises(ValueError, match=r"tf.cast"):
        v.assign(tf.constant([1, 2, 3]))
    v.scatter_nd_update([[2]], [0.0])
    assert v.assign_sub(tf.ones([3])).numpy().tolist() == [10.0, 4.0, -1.0]


def test_copies_and_files() -> None:
    """Tensors and variables can be copied and pickled."""
    v = tf.Variable([1.0, 2.0], name="v")
    again = pickle.loads(pickle.dumps(v))
    assert repr(again) == repr(v)
    other = copy.deepcopy(v)
    other.assign([0.0, 0.0])
    assert v.numpy().tolist() == [1.0, 2.0]
    assert pickle.loads(pickle.dumps(tf.constant([1, 2]))).numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (lambda: tf.constant([1.0, 0.5, 1 / 3]), "[1 0.5 0.333333343]"),
        (lambda: tf.range(10), "[0 1 2 ... 7 8 9]"),
        (lambda: tf.constant([[1, 2], [3, 4]]), "[[1 2]\n [3 4]]"),
        (lambda: tf.constant(True), "1"),
        (lambda: tf.constant("abc"), "abc"),
        (lambda: {"a": tf.constant(1), "b": [2, "c"]}, "{'a': 1, 'b': [2, 'c']}"),
        (lambda: tf.constant(0.1, tf.float64), "0.1"),
    ],
)
def test_tf_print(value: object, text: str) -> None:
    """`tf.print` writes values as TensorFlow's kernels do."""
    stream = io.StringIO()
    tf.print(value(), output_stream=stream)
    assert stream.getvalue() == text + "\n"


def test_structures_of_shapes() -> None:
    """A TensorShape is a tuple that prints, compares and adds as TensorFlow's does."""
    shape = tf.TensorShape([2, None])
    assert shape.concatenate([3]) == tf.TensorShape([2, None, 3])
    assert shape[:1] == (2,)
    assert shape.as_list() == [2, None]
    assert not shape.is_fully_defined()
    assert shape.is_compatible_with([2, 7])
    assert not shape.is_compatible_with([3, 7])
    assert tf.TensorShape([2, 3]).num_elements() == 6


def test_a_shape_may_be_unknown() -> None:
    """A shape of unknown rank fits every other, prints as TensorFlow's does, and has no list of lengths."""
    unknown = tf.TensorShape(None)
    assert (str(unknown), repr(unknown), unknown.rank) == ("<unknown>", "TensorShape(None)", None)
    assert unknown.is_compatible_with([3])
    assert tf.TensorShape([3]).is_compatible_with(None)
    assert unknown != tf.TensorShape([])
    with pytest.raises(ValueError, match="unknown"):
        unknown.as_list()
    variable = tf.Variable(0.0, shape=unknown)
    variable.assign([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(variable**2)
    assert tape.gradient(y, variable).numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize("name", ["assert_equal", "assert_less", "assert_greater", "assert_near", "assert_none_equal"])
def test_assertions_show_the_first_place(name: str) -> None:
    """An assertion that fails says where, and does not dump arrays."""
    x = tf.constant([1.0, 2.0, 3.0])
    y = {"assert_equal": x + tf.constant([0.0, 1.0, 0.0]), "assert_less": x - 1.0, "assert_greater": x + 1.0}.get(
        name, x + 9.0
    )
    y = x if name == "assert_none_equal" else y
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"did not hold at \d of 3 places; first: x = "):
        getattr(tf.debugging, name)(x, y)


def test_random_numbers_repeat_with_the_seed() -> None:
    """After `set_seed` the same numbers are drawn; without state they depend on the seed alone."""
    tf.random.set_seed(3)
    first = tf.random.normal([4]).numpy()
    tf.random.set_seed(3)
    assert tf.random.normal([4]).numpy().tolist() == first.tolist()
    assert tf.random.stateless_uniform([2], seed=[1, 2]).numpy().tolist() == (
        tf.random.stateless_uniform([2], seed=[1, 2]).numpy().tolist()
    )
    assert np.abs(tf.random.truncated_normal([500]).numpy()).max() <= 2
    assert set(tf.random.uniform([50], 0, 3, tf.int32).numpy().tolist()) <= {0, 1, 2}
    scale = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        draw = tf.random.normal([3], stddev=scale)
    assert tape.gradient(draw, scale).numpy() == pytest.approx(draw.numpy().sum() / 2.0, rel=1e-5)


@pytest.mark.parametrize("length", [5, 6, 7])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_same_padding_keeps_the_length(length: int, stride: int, size: int) -> None:
    """`SAME` gives ceil(length / stride) places, for convolutions and pooling; its transpose undoes the shape."""
    x = tf.random.normal([1, length, length, 1])
    kernel = tf.random.normal([size, size, 1, 1])
    wanted = -(-length // stride)
    y = tf.nn.conv2d(x, kernel, stride, "SAME")
    assert y.shape == tf.nn.max_pool2d(x, size, stride, "SAME").shape == (1, wanted, wanted, 1)
    back = tf.nn.conv2d_transpose(y, kernel, x.shape, stride, "SAME")
    # the transpose is the adjoint: <conv(x), y> = <x, transpose(y)>
    assert tf.reduce_sum(y * y).numpy() == pytest.approx(tf.reduce_sum(back * x).numpy(), rel=1e-3, abs=1e-4)


def test_no_warning_in_ordinary_use() -> None:
    """A plain computation says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            y = tf.reduce_mean(tf.nn.softmax(x @ x) + tf.reduce_sum(x, axis=1, keepdims=True))
        assert tape.gradient(y, x).shape == (2, 2)

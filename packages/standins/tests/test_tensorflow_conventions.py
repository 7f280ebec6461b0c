"""The TensorFlow stand-in: strings that are moved, precision, batches of rows, and the classes of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtape_standins import tensorflow as tf

keras = tf.keras


def test_strings_are_moved_like_numbers() -> None:
    """Functions that only rearrange take strings: indices, joins, lookups, choices."""
    words = tf.constant([["a", "bb"], ["ccc", "d"]])
    assert words[1, 0].numpy() == b"ccc"
    assert tf.reshape(tf.transpose(words), [4]).numpy().tolist() == [b"a", b"ccc", b"bb", b"d"]
    assert tf.concat([words[0], ["e"]], 0).numpy().tolist() == [b"a", b"bb", b"e"]
    assert tf.where([True, False], words[0], "x").numpy().tolist() == [b"a", b"x"]
    assert tf.gather(words, [1])[0, 1].numpy() == b"d"
    with pytest.raises(AttributeError, match="nothing"):
        _ = tf.ones([2]).nothing


def test_layers_in_double_precision() -> None:
    """`set_floatx` is the dtype of layers that are made from then on, and of their inputs."""
    keras.backend.set_floatx("float64")
    try:
        layer = keras.layers.Dense(2)
        assert layer(np.ones((1, 3), "float32")).dtype == tf.float64
        assert layer.kernel.dtype == "float64"
        assert keras.Input((3,)).dtype == "float64"
    finally:
        keras.backend.set_floatx("float32")
    with pytest.raises(ValueError, match="floatx"):
        keras.backend.set_floatx("int8")


def test_rows_in_batches() -> None:
    """Elements of different lengths are padded to given shapes, or become the rows of a RaggedTensor."""
    rows = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2, 3], [4], [5, 6]]))
    assert [batch.to_list() for batch in rows.batch(2)] == [[[1, 2, 3], [4]], [[5, 6]]]

    def make() -> Any:
        yield from ((n, [1.0] * n) for n in range(3))

    spec = tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32)
    lists = tf.data.Dataset.from_generator(make, output_signature=spec)
    (batch,) = lists.padded_batch(3, padded_shapes=([], [4]), padding_values=(0, -1.0))
    assert batch[1].numpy()[1].tolist() == [1.0, -1.0, -1.0, -1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not fit"):
        list(lists.padded_batch(3, padded_shapes=([], [1])))
    with pytest.raises(TypeError, match="ragged_batch"):
        rows.padded_batch(2)


def test_elements_in_turn() -> None:
    """`interleave` loses nothing; `group_by_window` gathers elements of a key."""
    pairs = tf.data.Dataset.range(5).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
    assert [int(x) for x in pairs] == [0, 1, 0, 1, 2, 3, 2, 3, 4, 4]
    grouped = tf.data.Dataset.range(6).group_by_window(lambda x: x % 2, lambda key, some: some.batch(3), window_size=3)
    assert [x.numpy().tolist() for x in grouped] == [[0, 2, 4], [1, 3, 5]]


def test_classes_of_errors() -> None:
    """What TensorFlow and Keras raise in these situations is what is raised here."""
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"SGD: .* \(3,\)"):
        keras.optimizers.SGD().apply_gradients([(tf.ones([3]), tf.Variable([1.0, 2.0]))])
    with pytest.raises(AttributeError, match="zip"):
        keras.optimizers.SGD().apply_gradients([(tf.Variable(1.0), tf.constant(1.0))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="range of axis 0"):
        tf.tensor_scatter_nd_update(tf.ones([2]), [[5]], [1.0])
    with pytest.raises(ValueError, match="min_ndim"):
        keras.layers.Dense(3)(tf.ones([4]))
    with pytest.raises(TypeError, match="boolean"):
        bool(keras.Input((3,)))
    with pytest.raises(ValueError, match="learning_rate="):
        keras.optimizers.Adam(lr=0.1)
    assert not bool(tf.constant([]))
    assert tf.constant([1, 2]) != tf.constant([1, 2, 3])


def test_eigenvalues_read_the_lower_triangle() -> None:
    """The gradient of `eigh` is there, and zero above the diagonal."""
    matrix = tf.Variable([[4.0, 1.0], [1.0, 3.0]])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.linalg.eigh(matrix)[0] ** 2)
    np.testing.assert_allclose(tape.gradient(total, matrix).numpy(), [[8.0, 0.0], [4.0, 6.0]], rtol=1e-5, atol=1e-5)


def test_losses_of_several_outputs_are_shown_unweighted() -> None:
    """Beside the whole loss, each output's own is shown before its weight."""
    inputs = keras.Input((2,))
    outputs = [keras.layers.Dense(1, kernel_initializer="ones", name=name)(inputs) for name in ("one", "two")]
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse", loss_weights=[1.0, 0.1], metrics={"two": ["mae"], "one": ["mae"]})
    found = model.evaluate(np.ones((4, 2)), [np.zeros((4, 1))] * 2, verbose=0, return_dict=True)
    assert found["one_loss"] == found["two_loss"] == 4.0
    assert found["loss"] == pytest.approx(4.4)


IGNORED = {
    "Conv2D": lambda: keras.layers.Conv2D(2, 3, data_format="channels_first"),
    "SeparableConv2D": lambda: keras.layers.SeparableConv2D(2, 3, data_format="channels_first"),
    "DepthwiseConv2D": lambda: keras.layers.DepthwiseConv2D(3, data_format="channels_first"),
    "Conv2DTranspose": lambda: keras.layers.Conv2DTranspose(2, 3, data_format="channels_first"),
    "MaxPooling2D": lambda: keras.layers.MaxPooling2D(data_format="channels_first"),
    "GlobalAveragePooling2D": lambda: keras.layers.GlobalAveragePooling2D(data_format="channels_first"),
    "ZeroPadding2D": lambda: keras.layers.ZeroPadding2D(data_format="channels_first"),
    "Cropping2D": lambda: keras.layers.Cropping2D(data_format="channels_first"),
    "UpSampling2D": lambda: keras.layers.UpSampling2D(data_format="channels_first"),
    "MultiHeadAttention": lambda: keras.layers.MultiHeadAttention(1, 2)(
        tf.ones([1, 2, 3]), tf.ones([1, 2, 3]), query_mask=tf.constant([[True, False]])
    ),
    "MeanIoU": lambda: keras.metrics.MeanIoU(2, sparse_y_pred=False),
    "AUC": lambda: keras.metrics.AUC(label_weights=[1.0, 2.0]),
    "R2Score": lambda: keras.metrics.R2Score().update_state([[1.0]], [[2.0]], sample_weight=[2.0]),
    "PrecisionAtRecall": lambda: keras.metrics.PrecisionAtRecall(0.5, class_id=1),
    "tf.ragged.stack": lambda: tf.ragged.stack([[1], [2, 3]], axis=1),
    "tf.ragged.constant": lambda: tf.ragged.constant([[[1], [2]], [[3]]], ragged_rank=1),
    "row_lengths": lambda: tf.ragged.constant([[[1], [2]], [[3]]]).row_lengths(axis=2),
    "to_tensor": lambda: tf.ragged.constant([[1], [2, 3]]).to_tensor(shape=[2, 5]),
    "tf.sparse.add": lambda: tf.sparse.add(tf.sparse.eye(2), tf.sparse.eye(2), threshold=5.0),
    "tf.sparse.reduce_sum": lambda: tf.sparse.reduce_sum(tf.sparse.eye(2), 0, output_is_sparse=True),
    "tf.strings.substr": lambda: tf.strings.substr("äb", 0, 1, unit="UTF8_CHAR"),
    "tf.strings.as_string": lambda: tf.strings.as_string([1.5], scientific=True),
    "tf.strings.unicode_split": lambda: tf.strings.unicode_split("ab", "UTF-16-BE"),
    "ExponentialMovingAverage": lambda: tf.train.ExponentialMovingAverage(0.9, zero_debias=True),
    "diag": lambda: tf.linalg.diag([[1.0, 2.0], [3.0, 4.0]], k=(-1, 0)),
}
"""Calls with an argument that the stand-in has nothing for."""


@pytest.mark.parametrize("what", IGNORED)
def test_an_argument_that_is_not_there_is_refused_and_not_ignored(what: str) -> None:
    """The error names the function and the argument; the numbers without it would be other ones."""
    with pytest.raises(NotImplementedError, match=f"^{what}: .*=") as caught:
        IGNORED[what]()
    assert "stand-in" in str(caught.value)


@pytest.mark.parametrize("move", [tf.nn.depth_to_space, tf.nn.space_to_depth])
def test_blocks_of_images_with_channels_first_are_those_of_channels_last(move: Any) -> None:
    """`data_format="NCHW"` gives what the same images give with their channels last."""
    images = np.arange(32.0).reshape(1, 8, 2, 2)
    first = move(images, 2, data_format="NCHW").numpy()
    last = move(np.moveaxis(images, 1, -1), 2).numpy()
    np.testing.assert_array_equal(first, np.moveaxis(last, -1, 1))

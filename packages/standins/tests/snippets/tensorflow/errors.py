"""Errors are of TensorFlow's classes."""

import tensorflow as tf


def attempt(name, function):
    try:
        print(name, function())
    except tf.errors.InvalidArgumentError:
        print(name, "InvalidArgumentError")
    except Exception as error:
        print(name, type(error).__name__)


x = tf.constant([1.0, 2.0])
attempt("add", lambda: x + tf.constant([1.0, 2.0, 3.0]))
attempt("matmul", lambda: tf.matmul([[1.0, 2.0]], [[1.0, 2.0]]))
attempt("vectors", lambda: x @ x)
attempt("reshape", lambda: tf.reshape(tf.range(4), [3]))
attempt("gather", lambda: tf.gather(x, 5))
attempt("index", lambda: x[5])
attempt("float index", lambda: x[0.5])
attempt("inverse", lambda: tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]]))
attempt("assign", lambda: tf.Variable(x).assign([1.0]))
attempt("truth", lambda: bool(x))
attempt("len", lambda: len(tf.constant(1.0)))
attempt("iterate", lambda: list(tf.constant(1.0)))
attempt("hash", lambda: hash(x))
attempt("equal", lambda: tf.debugging.assert_equal(x, 2 * x))
attempt("finite", lambda: tf.debugging.check_numerics(x / 0.0, "division"))
attempt("labels", lambda: tf.nn.softmax_cross_entropy_with_logits(labels=[0.0, 1.0, 0.0], logits=[[1.0, 2.0]]))
attempt("none", lambda: tf.constant(None))
attempt("watch", lambda: tf.GradientTape().watch(1.0))
attempt("name", lambda: x.name)
try:
    x[0] = 5.0
except TypeError as error:
    print(type(error).__name__)
v = tf.Variable(1.0)
try:
    v += 1.0
except RuntimeError as error:
    print(type(error).__name__)
print(issubclass(tf.errors.InvalidArgumentError, tf.errors.OpError))

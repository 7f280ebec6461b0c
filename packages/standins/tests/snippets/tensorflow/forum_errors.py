"""Mistakes that forums are asked about: the class of what is raised, or what is returned instead."""

import numpy as np
import tensorflow as tf

x = tf.Variable([1.0, 2.0])
w = tf.Variable(2.0)
whole = tf.constant([1, 2])
model = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")


def attempt(name, function):
    try:
        print(name, function())
    except Exception as error:
        print(name, type(error).__name__)


def used_twice():
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    return tape.gradient(y, x)


def of_number():
    with tf.GradientTape() as tape:
        y = float(w) ** 2
    return tape.gradient(y, w)


def computed_before():
    y = x**2
    with tf.GradientTape() as tape:
        z = tf.reduce_sum(y)
    return tape.gradient(z, x)


def left_for_numpy():
    with tf.GradientTape() as tape:
        y = w.numpy() ** 2 + w
    return tape.gradient(y, w)


def changed_later():
    with tf.GradientTape() as tape:
        y = w * w
        w.assign(100.0)
    gradient = tape.gradient(y, w)
    w.assign(2.0)
    return gradient


def entered_twice():
    tape = tf.GradientTape()
    with tape, tape:
        pass


attempt("used twice", used_twice)
attempt("a number", of_number)
attempt("computed before", computed_before)
attempt("left for NumPy", left_for_numpy)
attempt("changed later", changed_later)
attempt("entered twice", entered_twice)
attempt("never entered", lambda: tf.GradientTape().gradient(w * w, w))
attempt("no gradients", lambda: tf.keras.optimizers.SGD().apply_gradients([(None, w)]))
attempt("unknown variable", lambda: (lambda o: (o.build([w]), o.apply_gradients([(x, x)])))(tf.keras.optimizers.SGD()))
attempt("int and float", lambda: whole + tf.constant([1.0, 2.0]))
attempt("int times 2.5", lambda: whole * 2.5)
attempt("int plus 2.5", lambda: whole + 2.5)
attempt("int above 0.5", lambda: whole > 0.5)
attempt("float and double", lambda: tf.constant([1.0, 2.0]) + np.array([1.0, 2.0]))
attempt("none", lambda: x + None)
attempt("matmul", lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])))
attempt("broadcast", lambda: tf.ones([2, 3]) + tf.ones([4]))
attempt("concat", lambda: tf.concat([tf.ones([2, 3]), tf.ones([3, 3])], axis=1))
attempt("stack", lambda: tf.stack([tf.ones([2]), tf.ones([3])]))
attempt("squeeze", lambda: tf.squeeze(tf.ones([2, 3]), axis=0))
attempt("cast of text", lambda: tf.cast("a", tf.float32))
attempt("one_hot of floats", lambda: tf.one_hot([0.5], 3))
attempt("fractions assigned", lambda: tf.Variable([1, 2]).assign([1.5, 2.5]))
attempt("rows of lists", lambda: tf.constant([[1], [2, 3]]))
attempt("labels of rank 2", lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([[0], [1]], tf.ones([2, 3])))
attempt("labels of another shape", lambda: tf.nn.sigmoid_cross_entropy_with_logits([1.0], tf.ones([1, 2])))
attempt("one-hot labels", lambda: tf.keras.losses.CategoricalCrossentropy()(whole, tf.ones([2, 3])))
attempt("class 5 of 2", lambda: tf.keras.layers.Embedding(2, 2)(tf.constant([5])))
attempt("wrong features", lambda: model(tf.ones([2, 4])))
attempt("images of rank 3", lambda: tf.keras.layers.Conv2D(2, 3)(tf.ones([1, 5, 5])))
attempt("no time", lambda: tf.keras.layers.LSTM(2)(tf.ones([2, 3])))
attempt("no units", lambda: tf.keras.layers.Dense(-1))
attempt("no such activation", lambda: tf.keras.layers.Dense(1, activation="nonsense"))
attempt("no such layer", lambda: model.get_layer("nope"))
attempt("not compiled", lambda: tf.keras.Sequential([tf.keras.layers.Dense(1)]).fit(np.ones((2, 3)), np.ones(2)))
attempt("other lengths", lambda: model.fit(np.ones((4, 3)), np.ones(3), verbose=0))
attempt("no file", lambda: model.load_weights("nowhere.weights.h5"))
attempt("symbolic", lambda: tf.sin(tf.keras.Input((2,))))
attempt("numpy in a function", lambda: tf.function(lambda t: t.numpy())(w * 1.0))
attempt("np.sum in a function", lambda: tf.function(lambda t: np.sum(t))(x * 1.0))
attempt("batch_jacobian of a vector", lambda: tf.GradientTape().batch_jacobian(x * 1.0, x))

"""Activations of Keras with arguments that are not the defaults: values and slopes, ties included."""

from functools import partial

import tensorflow as tf

points = [-7.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 6.0, 9.0]


def show(label, function):
    x = tf.constant(points)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    print(label, [round(float(v), 4) + 0.0 for v in tf.reshape(y, [-1])])
    print("  slope", [round(float(v), 4) + 0.0 for v in tape.gradient(y, x)])


act, layers = tf.keras.activations, tf.keras.layers
show("elu(x, 0.5)", lambda x: act.elu(x, 0.5))
show("elu(x, alpha=2)", lambda x: act.elu(x, alpha=2.0))
show("ELU(0.5)", layers.ELU(0.5))
for slope in (0.0, 0.1):
    for most in (None, 1.0, 6.0):
        for threshold in (0.0, 0.5):
            label = f"relu {slope} {most} {threshold}"
            show(label, partial(act.relu, negative_slope=slope, max_value=most, threshold=threshold))
show("ReLU(6, 0.1, 0.5)", layers.ReLU(6.0, 0.1, 0.5))
show("leaky_relu", lambda x: act.leaky_relu(x, negative_slope=0.3))
show("celu", lambda x: act.celu(x + 0.125, alpha=0.5))
show("selu", act.selu)
show("hard_tanh", act.hard_tanh)
show("gelu", lambda x: act.gelu(x, approximate=True))
show("keras.ops.gelu", tf.keras.ops.gelu)
show("softmax", lambda x: act.softmax(tf.reshape(x, [2, 5]), axis=0)[0])
show("log_softmax", lambda x: act.log_softmax(tf.reshape(x, [2, 5]), axis=0)[0])
show("tf.nn.relu", lambda x: tf.nn.relu(features=x))
show("tf.nn.selu", tf.nn.selu)
show("silu(x, 2)", lambda x: tf.nn.silu(x, 2.0))
show("silu(x, tensor)", lambda x: tf.nn.silu(x, beta=tf.constant(0.5)))

x, beta = tf.constant([-1.0, 0.5, 2.0]), tf.Variable(0.7)
with tf.GradientTape() as tape:
    tape.watch(x)
    loss = tf.reduce_sum(tf.nn.silu(x, beta))
print([gradient.numpy().round(4).tolist() for gradient in tape.gradient(loss, [x, beta])])

config = layers.ELU(0.25).get_config()
print(config["alpha"], layers.ReLU(max_value=2.0, threshold=0.5).get_config()["threshold"])
for wrong in ({"max_value": -1.0}, {"negative_slope": -0.1}, {"threshold": -0.5}):
    try:
        layers.ReLU(**wrong)
    except ValueError as error:
        print("ValueError", next(iter(wrong)) in str(error))

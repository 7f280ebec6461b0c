import tensorflow as tf
from tensorflow import keras


def hard_tanh(limit):
    @tf.custom_gradient
    def activation(x):
        def grad(upstream):
            return upstream * tf.cast(tf.abs(x) < limit, x.dtype)

        return tf.clip_by_value(x, -limit, limit), grad

    return activation


class HardTanh(keras.layers.Layer):
    def __init__(self, limit=1.0):
        super().__init__()
        self.function = hard_tanh(limit)

    def call(self, inputs):
        return self.function(inputs)


keras.utils.set_random_seed(3)
net = keras.Sequential([keras.layers.Dense(6), HardTanh(1.0), keras.layers.Dense(1)])
batch = 3.0 * tf.random.normal((20, 4))
labels = tf.reduce_sum(batch, axis=1, keepdims=True)
optimizer = keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(batch) - labels))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))

probe = tf.constant([-5.0, 0.2, 4.0])
with tf.GradientTape() as tape:
    tape.watch(probe)
    top = tf.reduce_sum(hard_tanh(1.0)(probe))
slope = tape.gradient(top, probe)
assert not (float(slope[0]) != 0.0)

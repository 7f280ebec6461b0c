import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((4,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
x, y = tf.random.normal((20, 4)), tf.random.normal((20, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
grads = tape.gradient(loss, model.trainable_variables)
for variable, grad in zip(model.trainable_variables, grads):
    variable.assign(variable - 0.1 * grad)
assert all(g is not None for g in grads)

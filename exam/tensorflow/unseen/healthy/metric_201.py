import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
error = keras.losses.MeanSquaredError()
x, y = tf.random.normal((24, 3)), tf.random.normal((24, 1))
with tf.GradientTape() as tape:
    loss = error(y, model(x))
grads = tape.gradient(loss, model.trainable_variables)
assert all(g is not None for g in grads)

# expect: GT201 because GT206 or GT202 or GT208 or GT211
# cause: a metric adds up in variables by assignment, and is asked for a gradient like a loss
# wrong: all(g is None for g in grads)
# cure: error = keras.metrics.MeanSquaredError() -> error = keras.losses.MeanSquaredError()
# cure: error.update_state(y, model(x))  # <- here\n    loss = error.result() -> loss = error(y, model(x))
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
error = keras.metrics.MeanSquaredError()  # <- here
x, y = tf.random.normal((24, 3)), tf.random.normal((24, 1))
with tf.GradientTape() as tape:
    error.update_state(y, model(x))  # <- here
    loss = error.result()  # <- here
grads = tape.gradient(loss, model.trainable_variables)  # <- asked

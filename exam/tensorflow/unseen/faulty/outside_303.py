# expect: GT201 because GT211 or GT208 or GT202
# cause: reset is called after the forward pass, and clears what the tape has recorded
# wrong: all(g is None for g in grads)
# cure: error = model(x) - y\n    tape.reset() -> tape.reset()\n    error = model(x) - y
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.layers.Dense(1)
x, y = tf.random.normal((20, 3)), tf.random.normal((20, 1))
with tf.GradientTape() as tape:
    model(x[:1])
    error = model(x) - y
    tape.reset()  # <- here
    loss = tf.reduce_mean(error**2)
grads = tape.gradient(loss, model.trainable_variables)  # <- asked

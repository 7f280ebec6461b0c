# expect: GT314 or GT203 or GT210 or GT202 or GT201
# says: trainable_variables
# cause: get_weights returns NumPy arrays, which a tape has no gradients for
# wrong: raises Exception
# cure: model.get_weights() -> model.trainable_variables
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
x, y = tf.random.normal((16, 3)), tf.random.normal((16, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model(x) - y) ** 2)
weights = model.get_weights()  # <- here
grads = tape.gradient(loss, weights)  # <- here

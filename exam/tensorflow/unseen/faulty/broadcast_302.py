# expect: GT101
# cause: the condition is a vector and the errors a column, so that where pairs every example with every other
# wrong: chosen.shape == (48, 48)
# cure: tf.where(y > 0.0, 2.0 * error, error) -> tf.where(y[:, None] > 0.0, 2.0 * error, error)
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.layers.Dense(1)
x = tf.random.normal((48, 3))
y = tf.reduce_sum(x, axis=1)
with tf.GradientTape() as tape:
    error = tf.abs(model(x) - y[:, None])
    chosen = tf.where(y > 0.0, 2.0 * error, error)  # <- here
    loss = tf.reduce_mean(chosen)
grads = tape.gradient(loss, model.trainable_variables)

# expect: GT201 because GT209
# cause: the loss is computed from the argmax of the outputs, which has no derivative
# wrong: raises ValueError
# cure: tf.cast(tf.argmax(probs, axis=1), tf.float32) -> tf.reduce_sum(probs * [0.0, 1.0, 2.0], axis=1)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
x = np.random.randn(30, 5).astype("float32")
rating = np.random.randint(0, 3, size=30).astype("float32")
net = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(3, activation="softmax")])
adam = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(x, rating):
    with tf.GradientTape() as tape:
        probs = net(x)
        predicted = tf.cast(tf.argmax(probs, axis=1), tf.float32)  # <- here
        loss = tf.reduce_mean(tf.abs(predicted - rating))
    grads = tape.gradient(loss, net.trainable_variables)  # <- asked
    adam.apply_gradients(zip(grads, net.trainable_variables))  # <- asked
    return loss


for _ in range(2):
    train_step(x, rating)  # <- asked

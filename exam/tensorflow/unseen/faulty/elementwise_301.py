# expect: GT110
# cause: one weight for each of 16 examples meets losses with 16 examples and 10 steps, which are aligned at the steps
# wrong: raises InvalidArgumentError
# cure: losses * weights -> losses * weights[:, None]
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.layers.LSTM(5, return_sequences=True)
head = tf.keras.layers.Dense(1)
x, y = tf.random.normal((16, 10, 3)), tf.random.normal((16, 10))
weights = tf.random.uniform((16,))
with tf.GradientTape() as tape:
    losses = (head(net(x))[:, :, 0] - y) ** 2
    loss = tf.reduce_mean(losses * weights)  # <- here
grads = tape.gradient(loss, net.trainable_variables)

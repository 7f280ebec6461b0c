# expect: GT101 or GT102 or GT103
# cause: gather along axis 1 picks every action for every state, (32, 32), where one for each state was meant
# wrong: chosen.shape == (32, 32)
# cure: tf.gather(q, actions, axis=1) -> tf.gather(q, actions, batch_dims=1)
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
network = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(4)])
states = tf.random.normal((32, 6))
actions = tf.random.uniform((32,), 0, 4, tf.int32)
targets = tf.random.normal((32,))
with tf.GradientTape() as tape:
    q = network(states)
    chosen = tf.gather(q, actions, axis=1)  # <- here
    loss = tf.reduce_mean((chosen - targets) ** 2)  # <- here
grads = tape.gradient(loss, network.trainable_variables)

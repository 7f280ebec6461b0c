# expect: GT101
# cause: the outputs are squeezed to (20,), the batches of the data set have targets (20, 1)
# wrong: last.shape not in ((20,), (20, 1))
# cure: tf.squeeze(network(bx), axis=-1) -> network(bx)
import tensorflow as tf

tf.random.set_seed(3)
inputs = tf.random.uniform([60, 4])
outputs = tf.reduce_sum(inputs, axis=1, keepdims=True)
pipeline = tf.data.Dataset.from_tensor_slices((inputs, outputs)).batch(20)
network = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
rmsprop = tf.keras.optimizers.RMSprop(1e-2)

for epoch in range(2):
    for bx, by in pipeline:
        with tf.GradientTape() as tape:
            guess = tf.squeeze(network(bx), axis=-1)
            last = tf.square(guess - by)  # <- here
            cost = tf.reduce_mean(last)
        rmsprop.apply(tape.gradient(cost, network.trainable_weights), network.trainable_weights)

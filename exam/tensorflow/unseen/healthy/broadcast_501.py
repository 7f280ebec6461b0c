"""A compiled step whose prediction is squeezed."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
features = tf.random.normal((40, 4))
demand_all = tf.linalg.matvec(features, [1.0, -0.5, 0.0, 2.0])
data = tf.data.Dataset.from_tensor_slices((features, demand_all)).batch(10)
net = tf.keras.Sequential([tf.keras.layers.Dense(12, activation="tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.05)


@tf.function
def step(inputs, demand):
    with tf.GradientTape() as tape:
        predicted = net(inputs, training=True)
        loss = tf.reduce_mean(tf.square(tf.squeeze(predicted, 1) - demand))
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return loss


history = []
for epoch in range(12):
    for inputs, demand in data:
        loss = step(inputs, demand)
    history.append(loss)
assert not (float(history[-1]) > 0.3)

"""The labels of a data set, a column, are flattened before they are compared with the classes."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.Adam(0.01)
x = tf.random.normal((40, 4))
y = tf.argmax(x[:, :3], axis=1)[:, None]
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    right = tf.equal(tf.argmax(model(x), axis=1), y[:, 0])
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
assert right.shape == (40,)

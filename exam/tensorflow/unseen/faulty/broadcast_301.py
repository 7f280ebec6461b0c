# expect: GT101
# cause: labels (40, 1) are compared with classes (40,), so that each meets every other, and the accuracy is nonsense
# wrong: right.shape == (40, 40)
# cure: tf.equal(tf.argmax(model(x), axis=1), y) -> tf.equal(tf.argmax(model(x), axis=1), y[:, 0])
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
    right = tf.equal(tf.argmax(model(x), axis=1), y)  # <- here
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))

# expect: GT314 or GT313
# says: IndexedSlices
# cause: the gradient of an embedding is IndexedSlices, which have no arithmetic
# wrong: raises TypeError
# cure: tf.reduce_sum(g**2) -> tf.reduce_sum(tf.convert_to_tensor(g) ** 2)
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
embedding, head = tf.keras.layers.Embedding(50, 8), tf.keras.layers.Dense(1)
words, y = tf.random.uniform((16, 7), 0, 50, tf.int32), tf.random.normal((16, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((head(tf.reduce_mean(embedding(words), axis=1)) - y) ** 2)
grads = tape.gradient(loss, embedding.trainable_variables + head.trainable_variables)
norm = tf.sqrt(sum(tf.reduce_sum(g**2) for g in grads))  # <- here

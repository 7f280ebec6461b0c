# expect: GT513
# cause: the gradients are taken and applied for the encoder only, the head never changes
# wrong: bool(tf.reduce_all(head.kernel == before))
# cure: variables = encoder.trainable_variables -> variables = encoder.trainable_variables + head.trainable_variables
import tensorflow as tf

tf.keras.utils.set_random_seed(16)
encoder = tf.keras.Sequential([tf.keras.layers.Embedding(20, 6), tf.keras.layers.GRU(5)])
head = tf.keras.layers.Dense(2)
optimizer = tf.keras.optimizers.Adam(1e-2)
reviews = tf.random.uniform((12, 7), 0, 20, tf.int32)
stars = tf.random.uniform((12,), 0, 2, tf.int32)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
head.build((None, 5))
before = tf.identity(head.kernel)

for _ in range(4):
    with tf.GradientTape() as tape:
        loss = loss_fn(stars, head(encoder(reviews)))  # <- here
    variables = encoder.trainable_variables  # <- here
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))  # <- here

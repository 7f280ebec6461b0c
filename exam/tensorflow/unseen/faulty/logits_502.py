# expect: GT509
# cause: the loss takes probabilities, the critic gives unbounded scores
# wrong: abs(float(loss) - float(exact)) > 1e-4
# cure: tf.keras.losses.BinaryCrossentropy() -> tf.keras.losses.BinaryCrossentropy(from_logits=True)
import tensorflow as tf

tf.keras.utils.set_random_seed(33)
scorer = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
bce = tf.keras.losses.BinaryCrossentropy()  # <- here
mails = 2 * tf.random.normal((20, 6))
labels = tf.cast(tf.random.uniform((20, 1)) > 0.5, tf.float32)
optimizer = tf.keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        spam = scorer(mails)
        loss = bce(labels, spam)  # <- here
    optimizer.apply_gradients(zip(tape.gradient(loss, scorer.trainable_variables), scorer.trainable_variables))
exact = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=spam))

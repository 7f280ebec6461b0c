# expect: GT117
# cause: the losses of a batch have one axis, and axis 1 is averaged as well
# wrong: raises Exception
# cure: tf.reduce_mean(losses, axis=[0, 1]) -> tf.reduce_mean(losses, axis=0)
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
captions = tf.random.uniform((10,), maxval=7, dtype=tf.int32)
pictures = tf.random.normal((10, 13))
head = tf.keras.layers.Dense(7)
with tf.GradientTape() as tape:
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=captions, logits=head(pictures))
    loss = tf.reduce_mean(losses, axis=[0, 1])  # <- here
gradients = tape.gradient(loss, head.trainable_variables)

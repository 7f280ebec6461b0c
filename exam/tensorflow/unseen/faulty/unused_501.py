# expect: GT201 because GT202
# says: temperature
# cause: the temperature is a variable that the loss is not computed from
# wrong: raises ValueError
# cure: tf.matmul(left, right, transpose_b=True) -> tf.matmul(left, right, transpose_b=True) * temperature
import tensorflow as tf

tf.keras.utils.set_random_seed(13)
tower = tf.keras.layers.Dense(5)
temperature = tf.Variable(3.0, name="temperature")  # <- here
optimizer = tf.keras.optimizers.SGD(0.1)


def clip_loss(a, b):
    left, right = tower(a), tower(b)
    logits = tf.matmul(left, right, transpose_b=True)  # <- here
    labels = tf.range(tf.shape(logits)[0])
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


pairs = tf.random.normal((2, 9, 7))
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = clip_loss(pairs[0], pairs[1])
    grad = tape.gradient(loss, temperature)  # <- asked
    optimizer.apply_gradients([(grad, temperature)])  # <- asked

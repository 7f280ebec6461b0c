# expect: GT404 or GT503
# cause: the inputs are in the thousands, the sigmoid is saturated and its derivative is zero in float32
# wrong: float(tf.reduce_max(tf.abs(grads[0]))) == 0.0
# cure: tf.random.uniform((18, 3), 1000.0, 9000.0) -> tf.random.uniform((18, 3), 0.1, 0.9)
import tensorflow as tf

tf.random.set_seed(19)
salary = tf.random.uniform((18, 3), 1000.0, 9000.0)  # <- here
bought = tf.cast(tf.random.uniform((18, 1)) > 0.5, tf.float32)
w1, w2 = tf.Variable(0.5 * tf.ones((3, 4)) + 0.1 * tf.random.normal((3, 4))), tf.Variable(tf.random.normal((4, 1)))
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def network(x):
    hidden = tf.sigmoid(x @ w1)  # <- here
    return hidden @ w2


for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=bought, logits=network(salary)))
    grads = tape.gradient(loss, [w1, w2])  # <- asked
    optimizer.apply_gradients(zip(grads, [w1, w2]))  # <- asked

# expect: GT401
# cause: the log of the clipped-free probabilities: the softmax underflows to 0 and log gives -inf
# wrong: not np.isfinite(float(loss))
# cure: tf.math.log(p) -> tf.math.log(p + 1e-7)
import tensorflow as tf

tf.keras.utils.set_random_seed(21)
net = tf.keras.layers.Dense(4, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=60.0))
optimizer = tf.keras.optimizers.SGD(0.01)
x = tf.random.normal((20, 5))
labels = tf.one_hot(tf.random.uniform((20,), 0, 4, tf.int32), 4)


def cross_entropy(target, p):
    return -tf.reduce_mean(tf.reduce_sum(target * tf.math.log(p), axis=1))  # <- here


for _ in range(2):
    with tf.GradientTape() as tape:
        loss = cross_entropy(labels, tf.nn.softmax(net(x)))
    grads = tape.gradient(loss, net.trainable_variables)  # <- asked
    optimizer.apply_gradients(zip(grads, net.trainable_variables))

# expect: GT201 because GT208
# cause: stop_gradient stands around the online projection instead of the target's
# wrong: raises ValueError
# cure: tf.stop_gradient(online(view)) -> online(view)
# cure: tf.nn.l2_normalize(target(other), axis=1) -> tf.stop_gradient(tf.nn.l2_normalize(target(other), axis=1))
import tensorflow as tf

tf.keras.utils.set_random_seed(12)
online, target = tf.keras.layers.Dense(4), tf.keras.layers.Dense(4)
optimizer = tf.keras.optimizers.SGD(0.1)
images = tf.random.normal((12, 6))


def byol(view, other):
    p = tf.nn.l2_normalize(tf.stop_gradient(online(view)), axis=1)  # <- here
    z = tf.nn.l2_normalize(target(other), axis=1)
    return 2 - 2 * tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


for _ in range(2):
    with tf.GradientTape() as tape:
        loss = byol(images + 0.1 * tf.random.normal((12, 6)), images)
    grads = tape.gradient(loss, online.trainable_variables)  # <- asked
    optimizer.apply_gradients(zip(grads, online.trainable_variables))  # <- asked
    for slow, fast in zip(target.variables, online.variables):
        slow.assign(0.9 * slow + 0.1 * fast)

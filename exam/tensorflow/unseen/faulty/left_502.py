# expect: GT201 because GT210
# cause: float() takes the number out of the tape in the penalty, and the penalty is the whole loss
# wrong: raises ValueError
# cure: float(tf.reduce_sum(v**2)) -> tf.reduce_sum(v**2)
# cure: tf.constant(total) -> total
import tensorflow as tf

tf.keras.utils.set_random_seed(8)
layer = tf.keras.layers.Dense(3)
layer.build((None, 2))
optimizer = tf.keras.optimizers.SGD(0.1)


def weight_decay(variables):
    total = 0.0
    for v in variables:
        total += float(tf.reduce_sum(v**2))  # <- here
    return tf.constant(total)  # <- here


for _ in range(2):
    with tf.GradientTape() as tape:
        loss = weight_decay(layer.trainable_variables)
    grads = tape.gradient(loss, layer.trainable_variables)  # <- asked
    optimizer.apply_gradients(zip(grads, layer.trainable_variables))  # <- asked

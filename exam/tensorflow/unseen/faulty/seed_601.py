# expect: GT301
# cause: the seed is one number for each row, and the target has three for each row
# wrong: raises Exception
# cure: weights = tf.reduce_mean(importance, axis=1) -> weights = importance
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
features = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(3)])


def pull_back(inputs, importance):
    """The product of the weights with the Jacobian of the features."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = features(inputs)
    weights = tf.reduce_mean(importance, axis=1)  # <- here
    return tape.gradient(outputs, inputs, output_gradients=weights)  # <- here


points = tf.random.normal((4, 2))
pulled = pull_back(points, tf.random.uniform((4, 3)))  # <- asked

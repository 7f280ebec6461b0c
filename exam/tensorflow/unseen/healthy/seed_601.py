import tensorflow as tf

tf.keras.utils.set_random_seed(2)
features = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(3)])


def pull_back(inputs, importance):
    """The product of the weights with the Jacobian of the features."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = features(inputs)
    weights = importance
    return tape.gradient(outputs, inputs, output_gradients=weights)


points = tf.random.normal((4, 2))
pulled = pull_back(points, tf.random.uniform((4, 3)))
assert pulled.shape == (4, 2)

# expect: GT513
# cause: the gradients are asked for the head only, by a slip, and the body stays as it was
# wrong: np.array_equal(start, body.get_weights()[0])
# cure: weights = head.trainable_weights -> weights = body.trainable_weights + head.trainable_weights
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(8)
sensor = np.random.rand(30, 6).astype("float32")
label = (sensor.sum(axis=1, keepdims=True) > 3).astype("float32")
body = tf.keras.layers.Dense(10, activation="gelu")
head = tf.keras.layers.Dense(1)
body.build((None, 6))
head.build((None, 10))
start = body.get_weights()[0].copy()
optimiser = tf.keras.optimizers.Adam(0.01)
for _ in range(6):
    with tf.GradientTape() as tape:
        logits = head(body(sensor))
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits))
    weights = head.trainable_weights  # <- here
    optimiser.apply_gradients(zip(tape.gradient(loss, weights), weights))  # <- here

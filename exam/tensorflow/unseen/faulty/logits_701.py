# expect: GT509
# cause: weighted_cross_entropy_with_logits applies the sigmoid itself, and is given the output of one
# wrong: float(tf.reduce_min(scores)) >= 0.0
# cure: keras.layers.Dense(1, activation="sigmoid") -> keras.layers.Dense(1)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
amounts = rng.normal(size=(80, 6)).astype("float32")
fraud = (amounts[:, :1] > 1.3).astype("float32")
detector = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]  # <- here
)
optimizer = keras.optimizers.Adam(0.003)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        scores = detector(x, training=True)
        loss = tf.reduce_mean(tf.nn.weighted_cross_entropy_with_logits(y, scores, pos_weight=9.0))  # <- here
    gradients = tape.gradient(loss, detector.trainable_variables)
    optimizer.apply_gradients(zip(gradients, detector.trainable_variables))
    return loss, scores


for epoch in range(4):
    loss, scores = train_step(amounts, fraud)

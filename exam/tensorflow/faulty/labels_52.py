# expect: GT118 or GT115
# cause: the labels are 1..5 and the network has outputs for 0..4
# wrong: raises InvalidArgumentError
# cure: labels=ratings, -> labels=ratings - 1,
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
reviews = np.random.rand(40, 10).astype("float32")
ratings = np.random.randint(1, 6, size=40)  # <- here
net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(5)])
opt = tf.keras.optimizers.Adam(0.01)
with tf.GradientTape() as tape:
    logits = net(reviews)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ratings, logits=logits)  # <- here
    )
grads = tape.gradient(loss, net.trainable_variables)
opt.apply_gradients(zip(grads, net.trainable_variables))
assert np.isfinite(float(loss))

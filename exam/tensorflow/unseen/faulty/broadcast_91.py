# expect: GT101
# cause: the output of the network is (50, 1), the targets are (50,)
# wrong: error.shape != (50,) and error.shape != (50, 1)
# cure: error = y - model(x) -> error = y - model(x)[:, 0]
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(50, 4)).astype("float32")
y = (x @ [1.0, 2.0, -1.0, 0.0]).astype("float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        error = y - model(x)  # <- here
        loss = tf.reduce_mean(tf.square(error))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))

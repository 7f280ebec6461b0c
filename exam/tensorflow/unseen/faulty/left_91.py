# expect: GT201 because GT210 or GT208
# cause: the prediction is turned into a NumPy array before the loss is computed
# wrong: all(g is None for g in grads)
# cure: model(x).numpy() -> model(x)
# cure: np.mean(np.abs(prediction - y.numpy())) -> tf.reduce_mean(tf.abs(prediction - y))
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
x, y = tf.random.normal((12, 3)), tf.random.normal((12, 1))
with tf.GradientTape() as tape:
    prediction = model(x).numpy()  # <- here
    loss = tf.convert_to_tensor(np.mean(np.abs(prediction - y.numpy())))  # <- here
grads = tape.gradient(loss, model.trainable_variables)  # <- asked

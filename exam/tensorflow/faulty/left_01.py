# expect: GT201 because GT210
# cause: the loss is computed with NumPy from predictions that left by .numpy()
# wrong: raises ValueError
# cure: np.mean((y - predictions.numpy()) ** 2) -> tf.reduce_mean((y - predictions) ** 2)
# cure: tf.convert_to_tensor(error) -> error
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
x = np.random.rand(40, 2).astype("float32")
y = (x[:, :1] - x[:, 1:]) ** 2
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()


def my_loss(y, predictions):
    error = np.mean((y - predictions.numpy()) ** 2)  # <- here
    return tf.convert_to_tensor(error)


with tf.GradientTape() as tape:
    loss = my_loss(y, model(x))
gradients = tape.gradient(loss, model.trainable_variables)  # <- asked
optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # <- asked

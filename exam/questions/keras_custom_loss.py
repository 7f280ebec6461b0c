# library: tensorflow
# question: Why does a Keras model with a custom loss not learn?
# answer: fit hands the loss targets of shape (n,) and predictions of shape (n, 1). Keras' own losses align
#   them; one written by hand broadcasts them to (n, n), and the best it can do is to predict the mean.
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
x = np.linspace(-1.0, 1.0, 64, dtype="float32")[:, None]
y = 2.0 * x[:, 0] + 1.0


def my_loss(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred))


model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = my_loss(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
print(float(loss))

# expect: GT404 or GT509
# cause: the loss of logarithms cuts negative predictions off at zero, and all predictions are negative
# wrong: not any(np.any(g.numpy()) for g in grads)
# cure: bias_initializer=keras.initializers.Constant(-3.0) -> activation="softplus"
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.uniform((32, 3))
y = 5.0 * tf.reduce_sum(x, axis=1, keepdims=True)
model = keras.Sequential([keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(-3.0))])  # <- here
with tf.GradientTape() as tape:
    predicted = model(x)  # <- here
    loss = tf.reduce_mean(keras.losses.mean_squared_logarithmic_error(y, predicted))  # <- here
grads = tape.gradient(loss, model.trainable_variables)  # <- asked

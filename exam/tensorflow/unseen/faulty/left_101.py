# expect: GT201 because GT210
# cause: predict returns NumPy arrays, so that nothing leads from the loss to the weights
# wrong: all(g is None for g in grads)
# cure: model.predict(x, verbose=0) -> model(x)
import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(32, 4)).astype("float32")
y = rng.normal(size=(32, 1)).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    pred = model.predict(x, verbose=0)  # <- here
    loss = tf.reduce_mean(tf.square(pred - y))
grads = tape.gradient(loss, model.trainable_variables)  # <- asked

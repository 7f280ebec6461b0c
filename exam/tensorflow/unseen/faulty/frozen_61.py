# expect: GT512 or GT212 or GT201
# cause: the model was frozen for the first stage and is trained in the second without being thawed
# wrong: raises ValueError
# cure: model.trainable = False -> model.trainable = True
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(14)
model = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(1)])
model.trainable = False  # <- here
optimizer = tf.keras.optimizers.Adam(1e-3)
x = np.random.rand(12, 3).astype("float32")
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x) ** 2)
grads = tape.gradient(loss, model.trainable_variables)  # <- here
optimizer.apply_gradients(zip(grads, model.trainable_variables))  # <- here

# expect: GT116 or GT111
# cause: the model was declared for 10 features and the table has 9 after the label column was dropped
# wrong: raises ValueError
# cure: layers.Input((10,)) -> layers.Input((9,))
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
table = np.random.rand(50, 10).astype("float32")
features, label = table[:, :-1], table[:, -1:]

model = tf.keras.Sequential(
    [
        layers.Input((10,)),  # <- here
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
mse = tf.keras.losses.MeanSquaredError()
optimizer = tf.keras.optimizers.SGD(0.01)
with tf.GradientTape() as tape:
    prediction = model(features, training=True)  # <- here
    loss = mse(label, prediction)
optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

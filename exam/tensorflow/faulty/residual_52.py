# expect: GT102
# cause: Flatten is missing and the mean over time is kept, so one value is compared with every time step
# wrong: out.shape != y.shape
# cure: layers.GlobalAveragePooling1D(keepdims=True) -> layers.Activation("linear")
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
x = np.random.randn(20, 10, 3).astype("float32")
y = np.cumsum(x[..., :1], axis=1)

model = tf.keras.Sequential(
    [
        layers.Input((10, 3)),
        layers.Dense(8, activation="relu"),
        layers.GlobalAveragePooling1D(keepdims=True),  # <- here
        layers.Dense(1),
    ]
)
adam = tf.keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        out = model(x)
        loss = tf.reduce_mean(tf.math.squared_difference(out, y))  # <- here
    adam.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

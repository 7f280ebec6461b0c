# mixed precision with a LossScaleOptimizer, a custom loop and float32 output
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(23)
model = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(16, "relu"),
        keras.layers.Dense(2),
        keras.layers.Activation("linear", dtype="float32"),
    ]
)
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(1e-3))
optimizer.build(model.trainable_variables)
x, y = tf.random.normal((32, 6)), tf.random.uniform((32,), maxval=2, dtype=tf.int32)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
        scaled = optimizer.scale_loss(loss)
    optimizer.apply(tape.gradient(scaled, model.trainable_variables), model.trainable_variables)
keras.mixed_precision.set_global_policy("float32")
assert np.isfinite(float(loss))

# needs: keras
"""A loop with `tf.GradientTape`, executed eagerly: a Keras model, optimiser, metrics, a custom gradient, a penalty."""

import keras
import tensorflow as tf
from keras import layers
from measure import Steps
from tensorflow_measure import finish


@tf.custom_gradient
def clip_backward(x):
    return tf.identity(x), lambda upstream: tf.clip_by_value(upstream, -0.1, 0.1)


keras.utils.set_random_seed(0)
x = tf.random.normal((128, 5))
y = tf.cast(tf.reduce_sum(x[:, :2], axis=1) > 0, tf.int32)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(128, seed=3).batch(16)
model = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dropout(0.1), layers.Dense(2)])
optimiser = keras.optimizers.SGD(0.1, momentum=0.9)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = keras.metrics.SparseCategoricalAccuracy()
steps = Steps()
for epoch in range(6):
    accuracy.reset_state()
    for inputs, targets in data:
        with steps:
            with tf.GradientTape() as tape:
                with tf.GradientTape() as inner:
                    inner.watch(inputs)
                    scores = model(clip_backward(inputs), training=True)
                slope = inner.gradient(scores, inputs)
                loss = criterion(targets, scores) + 0.01 * tf.reduce_mean(tf.square(slope))
            gradients = tape.gradient(loss, model.trainable_variables)
            gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
            optimiser.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            accuracy.update_state(targets, scores)
    print(f"epoch {epoch}: loss {float(loss):.6f} accuracy {float(accuracy.result()):.4f}")
finish(steps, [*model.variables, *optimiser.variables])

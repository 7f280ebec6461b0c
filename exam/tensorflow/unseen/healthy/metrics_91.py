"""A loop with metrics and predicted classes beside the loss."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(3)])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt = tf.keras.optimizers.SGD(0.1)
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
x, y = tf.random.normal((30, 4)), tf.random.uniform((30,), 0, 3, tf.int32)
values = []
for _ in range(4):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    accuracy.update_state(y, logits)
    predicted = tf.argmax(logits, axis=1).numpy()
    values.append(float(loss))
assert len(values) == 4
assert predicted.shape == (30,)

"""A training loop by hand, with an optimiser, a loss and a metric of Keras, inside a tf.function."""

import numpy as np
import tensorflow as tf

tf.keras.backend.clear_session()
points = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.5], [3.0, 1.0], [0.5, 3.0], [2.5, 0.5]], dtype="float32")
classes = np.array([0, 1, 2, 1, 0, 1])
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(3)])
model(points)
model.set_weights([np.linspace(-0.8, 0.8, w.numpy().size).reshape(w.shape) for w in model.weights])
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(learning_rate=0.2)
train_loss = tf.keras.metrics.Mean(name="train_loss")
accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="accuracy")
dataset = tf.data.Dataset.from_tensor_slices((points, classes)).batch(3)


@tf.function
def train_step(x, y):
    print("tracing")
    with tf.GradientTape() as tape:
        predictions = model(x, training=True)
        loss = loss_object(y, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss(loss)
    accuracy(y, predictions)


for epoch in range(5):
    train_loss.reset_state()
    accuracy.reset_state()
    for x, y in dataset:
        train_step(x, y)
    print(f"Epoch {epoch + 1}, Loss: {train_loss.result():0.3f}, Accuracy: {accuracy.result() * 100:0.1f}")
print(tf.argmax(model(points), axis=1))
print(optimizer.iterations.numpy(), train_loss, accuracy.name)

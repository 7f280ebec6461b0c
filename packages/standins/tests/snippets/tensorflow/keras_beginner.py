"""The beginners' guide on small made-up images: a model, its table, logits, a loss, training, probabilities."""

import numpy as np
import tensorflow as tf

tf.keras.backend.clear_session()
x_train = (np.arange(4 * 6 * 6).reshape(4, 6, 6) % 17 / 16.0).astype("float32")
y_train = np.array([0, 1, 2, 1])
model = tf.keras.models.Sequential(
    [
        tf.keras.layers.Input(shape=(6, 6)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dropout(0.0),
        tf.keras.layers.Dense(3),
    ]
)
model.summary()
model.set_weights([np.linspace(-0.2, 0.3, w.numpy().size).reshape(w.shape) for w in model.weights])
predictions = model(x_train[:1]).numpy()
print(predictions)
print(tf.nn.softmax(predictions).numpy())
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
print(loss_fn(y_train[:1], predictions).numpy())
model.compile(optimizer="adam", loss=loss_fn, metrics=["accuracy"])
history = model.fit(x_train, y_train, epochs=5, batch_size=4, verbose=0)
print([round(value, 4) for value in history.history["loss"]], history.history["accuracy"])
print([round(value, 4) for value in model.evaluate(x_train, y_train, verbose=0)])
probability_model = tf.keras.Sequential([model, tf.keras.layers.Softmax()])
print(probability_model(x_train[:2]))
print(probability_model.predict(x_train, verbose=0).shape, tf.keras.utils.to_categorical([0, 2]))

"""compile, fit, evaluate and predict."""

import numpy as np
import tensorflow as tf

tf.keras.backend.clear_session()
x = np.linspace(-1.0, 1.0, 12).reshape(6, 2).astype("float32")
y = (x @ np.array([[1.0], [-2.0]]) + 0.5).astype("float32")


def fresh(optimizer, loss="mse"):
    model = tf.keras.Sequential(
        [tf.keras.Input(shape=(2,)), tf.keras.layers.Dense(3, activation="tanh"), tf.keras.layers.Dense(1)]
    )
    model.set_weights([np.linspace(-1.0, 1.0, w.numpy().size).reshape(w.shape) for w in model.weights])
    model.compile(optimizer=optimizer, loss=loss, metrics=["mae"])
    return model


for optimizer in (
    tf.keras.optimizers.SGD(0.1),
    tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    tf.keras.optimizers.Adam(0.05),
    tf.keras.optimizers.AdamW(0.05, weight_decay=0.01),
    tf.keras.optimizers.RMSprop(0.01),
    tf.keras.optimizers.Adagrad(0.1),
    tf.keras.optimizers.Adamax(0.05),
    tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)),
    tf.keras.optimizers.SGD(0.1, global_clipnorm=0.5),
):
    model = fresh(optimizer)
    history = model.fit(x, y, epochs=4, batch_size=3, shuffle=False, verbose=0)
    print(type(optimizer).__name__, [round(v, 3) for v in history.history["loss"]], int(optimizer.iterations))
model = fresh("sgd")
print([round(v, 4) for v in model.evaluate(x, y, verbose=0)])
print(model.predict(x[:2], verbose=0))
history = model.fit(x, y, epochs=2, validation_split=0.5, shuffle=False, verbose=0)
print(sorted(history.history))
for loss in ("mae", "huber", tf.keras.losses.MeanSquaredError(), tf.keras.losses.LogCosh()):
    print(round(fresh("adam", loss).fit(x, y, epochs=1, shuffle=False, verbose=0).history["loss"][0], 4))

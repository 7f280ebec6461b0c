"""What callbacks are told, and when."""

import os
import tempfile

import numpy as np
from tensorflow import keras


class Teller(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print("train begin", logs, sorted(self.params.items()))

    def on_train_end(self, logs=None):
        print("train end", sorted(logs))

    def on_epoch_begin(self, epoch, logs=None):
        print("epoch begin", epoch, logs)

    def on_epoch_end(self, epoch, logs=None):
        print("epoch end", epoch, sorted(logs))

    def on_train_batch_end(self, batch, logs=None):
        print("batch end", batch, sorted(logs))

    def on_test_begin(self, logs=None):
        print("test begin", logs)

    def on_test_batch_end(self, batch, logs=None):
        print("test batch end", batch, sorted(logs))

    def on_test_end(self, logs=None):
        print("test end", sorted(logs))

    def on_predict_batch_end(self, batch, logs=None):
        print("predict batch end", batch, sorted(logs))


x = np.linspace(-1.0, 1.0, 12, dtype="float32").reshape(-1, 1)
y = 2.0 * x
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
history = model.fit(x, y, batch_size=6, epochs=1, verbose=0, validation_split=0.5, callbacks=[Teller()])
print(history.params, history.epoch)
model.evaluate(x, y, batch_size=12, verbose=0, callbacks=[Teller()])
model.predict(x, batch_size=6, verbose=0, callbacks=[Teller()])

stopping = keras.callbacks.EarlyStopping(monitor="loss", patience=1, min_delta=100.0, verbose=1)
history = model.fit(x, y, epochs=9, verbose=0, callbacks=[stopping])
print(len(history.epoch), stopping.stopped_epoch)

slower = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=100.0, verbose=1)
history = model.fit(x, y, epochs=3, verbose=0, callbacks=[slower, keras.callbacks.TerminateOnNaN()])
print(history.history["learning_rate"])

planned = keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.1 / (epoch + 1), verbose=1)
history = model.fit(x, y, epochs=2, verbose=0, callbacks=[planned])
print(history.history["learning_rate"])

with tempfile.TemporaryDirectory() as folder:
    path, table = os.path.join(folder, "best.weights.h5"), os.path.join(folder, "log.csv")
    best = keras.callbacks.ModelCheckpoint(path, monitor="loss", save_best_only=True, save_weights_only=True)
    model.fit(x, y, epochs=2, verbose=0, callbacks=[best, keras.callbacks.CSVLogger(table)])
    before = model.get_weights()
    model.set_weights([np.zeros_like(w) for w in before])
    model.load_weights(path)
    print([np.allclose(a, b) for a, b in zip(before, model.get_weights())])
    with open(table) as file:
        print([line.split(",")[0] for line in file])

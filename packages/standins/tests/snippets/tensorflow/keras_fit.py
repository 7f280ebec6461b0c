"""fit with weights of classes and examples, generators, several outputs, and steps of one's own."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

x = np.linspace(-1.0, 1.0, 24, dtype="float32").reshape(8, 3)
y = np.array([0, 1, 2, 0, 1, 2, 0, 1])


def classifier():
    model = keras.Sequential(
        [
            keras.Input((3,)),
            layers.Dense(4, activation="relu", kernel_initializer="ones"),
            layers.Dense(3, activation="softmax", kernel_initializer=keras.initializers.Constant(0.1)),
        ]
    )
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


model = classifier()
print(model.fit(x, y, shuffle=False, batch_size=4, verbose=0, class_weight={0: 1.0, 1: 2.0, 2: 5.0}).history)
print(model.fit(x, y, shuffle=False, batch_size=4, verbose=0, sample_weight=np.linspace(0.0, 1.0, 8)).history)
print(model.fit(x, y, shuffle=False, verbose=0, validation_split=0.25, epochs=2).history)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(2)
print(model.fit(dataset, steps_per_epoch=2, epochs=2, verbose=0).history)
print(np.round(model.evaluate(dataset, verbose=0), 4), model.evaluate(x, y, verbose=0, return_dict=True).keys())


class Rows(keras.utils.PyDataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return x[4 * index : 4 * index + 4], y[4 * index : 4 * index + 4]


print(model.fit(Rows(), verbose=0, shuffle=False).history)
print(model.train_on_batch(x, y), model.test_on_batch(x, y, return_dict=True), model.predict_on_batch(x).shape)

title = keras.Input((None,), name="title")
body = keras.Input((3,), name="body")
read = layers.LSTM(2)(layers.Embedding(5, 3)(title))
joined = layers.concatenate([read, body])
outputs = {"urgent": layers.Dense(1, name="urgent")(joined), "kind": layers.Dense(3, name="kind")(joined)}
both = keras.Model([title, body], outputs)
both.compile(
    optimizer="rmsprop",
    loss={
        "urgent": keras.losses.BinaryCrossentropy(from_logits=True),
        "kind": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    },
    loss_weights={"urgent": 1.0, "kind": 0.2},
    metrics={"kind": ["accuracy"]},
)
words = np.arange(16).reshape(8, 2) % 5
targets = {"urgent": (y > 0).astype("float32").reshape(-1, 1), "kind": y}
print(sorted(both.fit({"title": words, "body": x}, targets, batch_size=4, verbose=0).history))


class Stepping(keras.Model):
    def train_step(self, data):
        inputs, wanted = data
        with tf.GradientTape() as tape:
            predictions = self(inputs, training=True)
            loss = self.compute_loss(y=wanted, y_pred=predictions)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(wanted, predictions)
        return {metric.name: metric.result() for metric in self.metrics}


start = keras.Input((3,))
stepping = Stepping(start, layers.Dense(1, kernel_initializer="ones")(start))
stepping.compile(optimizer="sgd", loss="mse", metrics=["mae"])
print(stepping.fit(x, x[:, :1], epochs=3, batch_size=8, shuffle=False, verbose=0).history)

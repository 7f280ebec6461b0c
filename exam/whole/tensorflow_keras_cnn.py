# needs: keras
"""A Keras CNN with augmentation, batch normalisation and dropout, by `compile` and `fit` with validation."""

import keras
import numpy as np
from keras import layers
from measure import Steps
from tensorflow_measure import Timer, finish

keras.utils.set_random_seed(0)
labels = np.random.randint(0, 4, 256)
images = 0.3 * np.random.randn(256, 12, 12, 1).astype("float32")
images[np.arange(256), labels * 3] += 1.0

model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        layers.RandomTranslation(0.05, 0.05),
        layers.Conv2D(8, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.MaxPooling2D(2),
        layers.Conv2D(16, 3, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-4)),
        layers.GlobalAveragePooling2D(),
        layers.Dropout(0.2),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(2)],
)
steps = Steps()
history = model.fit(
    images[:192], labels[:192], batch_size=16, epochs=5, validation_data=(images[192:], labels[192:]), verbose=0,
    callbacks=[Timer(steps), keras.callbacks.ReduceLROnPlateau(patience=1), keras.callbacks.EarlyStopping(patience=10)],
)  # fmt: skip
for key, values in sorted(history.history.items()):
    print(key, " ".join(f"{float(value):.6f}" for value in values))
print(model.evaluate(images[192:], labels[192:], verbose=0))
print(model.predict(images[:2], verbose=0).tolist())
finish(steps, model.variables)

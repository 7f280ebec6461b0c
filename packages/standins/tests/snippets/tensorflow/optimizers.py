"""Four steps of each optimiser, what they keep, and learning rates that change."""

import tensorflow as tf
from tensorflow import keras

tf.keras.backend.clear_session()

made = {
    "SGD": keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "Adam": keras.optimizers.Adam(0.1),
    "amsgrad": keras.optimizers.Adam(0.1, amsgrad=True),
    "AdamW": keras.optimizers.AdamW(0.1),
    "Nadam": keras.optimizers.Nadam(0.1),
    "Adamax": keras.optimizers.Adamax(0.1),
    "Adagrad": keras.optimizers.Adagrad(0.1),
    "Adadelta": keras.optimizers.Adadelta(0.1),
    "RMSprop": keras.optimizers.RMSprop(0.1, momentum=0.9),
    "Lion": keras.optimizers.Lion(0.01),
    "clipnorm": keras.optimizers.Adam(0.1, clipnorm=0.5),
    "global_clipnorm": keras.optimizers.SGD(0.1, global_clipnorm=0.5),
    "decay": keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)),
}
for name, optimizer in made.items():
    v = tf.Variable([1.0, -2.0])
    for step in range(4):
        optimizer.apply_gradients([(tf.constant([0.5, -1.0]) * (step + 1), v)])
    print(name, v.numpy(), optimizer.iterations.numpy())
print([v.path for v in made["SGD"].variables])
config = made["amsgrad"].get_config()
print(list(config), config["beta_1"], keras.optimizers.Adam.from_config(config).get_config() == config)
for schedule in (
    keras.optimizers.schedules.CosineDecay(0.1, 10),
    keras.optimizers.schedules.CosineDecayRestarts(0.1, 10),
    keras.optimizers.schedules.PolynomialDecay(0.1, 10),
):
    print([round(float(schedule(step)), 6) for step in (0, 3, 12, 25)])
layer = keras.layers.Dense(1, kernel_initializer="ones", kernel_constraint=keras.constraints.MaxNorm(0.5))
layer.build((None, 2))
made["clipnorm"] = keras.optimizers.SGD(0.1)
made["clipnorm"].apply_gradients([(tf.ones([2, 1]), layer.kernel)])
print(layer.kernel.numpy())

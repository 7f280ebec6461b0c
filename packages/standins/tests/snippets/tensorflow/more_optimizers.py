"""Every optimiser of Keras, with what it can be given: decay, momentum under a schedule, averages, accumulation."""

import numpy as np
import tensorflow as tf

optimizers = tf.keras.optimizers
falling = optimizers.schedules.ExponentialDecay(0.05, 2, 0.5)
warm = optimizers.schedules.CosineDecay(0.0, 6, warmup_target=0.1, warmup_steps=2)


def descend(optimizer, steps=6):
    matrix, small = tf.Variable([[1.0, -2.0], [0.5, 3.0]]), tf.Variable([0.1, 1e-4])
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(matrix**2 * [[1.0, 10.0], [0.01, 1e-4]]) + tf.reduce_sum(tf.sin(small * 3.0) * 1e-3)
        optimizer.apply_gradients(zip(tape.gradient(loss, [matrix, small]), [matrix, small]))
    print(type(optimizer).__name__, matrix.numpy().round(4).tolist(), small.numpy().round(5).tolist())


descend(optimizers.SGD(falling, momentum=0.9))
descend(optimizers.SGD(0.01, momentum=0.9, nesterov=True, weight_decay=0.1))
descend(optimizers.RMSprop(0.01, momentum=0.5, centered=True, weight_decay=0.1))
descend(optimizers.RMSprop(warm, rho=0.5, epsilon=1e-3))
descend(optimizers.Adagrad(0.1, initial_accumulator_value=0.0))
descend(optimizers.Adamax(0.01, weight_decay=0.1))
descend(optimizers.Adam(0.01, amsgrad=True, weight_decay=0.2))
descend(optimizers.Ftrl(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02, beta=0.1))
descend(optimizers.Ftrl(0.1, learning_rate_power=-0.3, l2_shrinkage_regularization_strength=0.1))
descend(optimizers.Lamb(0.01))
descend(optimizers.Adafactor(0.01))
descend(optimizers.Lion(0.01, weight_decay=0.1))
descend(optimizers.SGD(0.01, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2))
descend(optimizers.SGD(0.01, gradient_accumulation_steps=2))
descend(optimizers.SGD(0.01, loss_scale_factor=2.0))


class Halving(optimizers.Optimizer):
    """Of one's own: steps that are half as long each time."""

    def build(self, variables):
        super().build(variables)
        self.lengths = [self.add_variable_from_reference(v, "length", initializer="ones") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        length = self.lengths[self._get_variable_index(variable)]
        self.assign_sub(variable, learning_rate * length * gradient)
        self.assign(length, length * 0.5)


descend(Halving(learning_rate=0.04))
print([round(float(warm(step)), 4) for step in range(8)])
print({name: value for name, value in optimizers.Ftrl(0.5).get_config().items() if name.startswith("l")})
try:
    optimizers.Adam(lr=0.1)
except ValueError as error:
    print(type(error).__name__)
print(np.float32(optimizers.get("ftrl").learning_rate))

# expect: GT101
# cause: compute_loss gets labels (batch,) and predictions (batch, 1), and subtracts them
# wrong: shapes[-1] == [16, 16]
# cure: y_pred - y) -> y_pred[:, 0] - y)
import keras
import numpy as np

shapes = []


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential([keras.layers.Dense(6, activation="elu"), keras.layers.Dense(1)])

    def call(self, inputs):
        return self.body(inputs)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, **others):
        gap = keras.ops.square(y_pred - y)  # <- here
        shapes.append(gap.shape.as_list())
        return keras.ops.mean(gap)


keras.utils.set_random_seed(2)
wind = np.random.rand(48, 5).astype("float32")
power = wind.sum(axis=1) ** 2
regressor = Regressor()
regressor.compile(optimizer="sgd")
regressor.fit(wind, power, batch_size=16, epochs=1, verbose=0)  # <- asked

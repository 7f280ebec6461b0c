# distillation: the teacher's probabilities are targets, softened, and are not differentiated
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Distiller(keras.Model):
    def __init__(self, student, teacher, temperature=3.0, alpha=0.3):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.temperature, self.alpha = temperature, alpha
        self.teacher.trainable = False

    def call(self, x):
        return self.student(x)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        soft_targets = tf.nn.softmax(self.teacher(x, training=False) / self.temperature, axis=1)
        soft = keras.losses.categorical_crossentropy(soft_targets, tf.nn.softmax(y_pred / self.temperature, axis=1))
        hard = keras.losses.sparse_categorical_crossentropy(y, y_pred, from_logits=True)
        return self.alpha * tf.reduce_mean(hard) + (1 - self.alpha) * self.temperature**2 * tf.reduce_mean(soft)


keras.utils.set_random_seed(23)
teacher = keras.Sequential([keras.Input((5,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(3)])
student = keras.Sequential([keras.Input((5,)), keras.layers.Dense(6, "relu"), keras.layers.Dense(3)])
x = np.random.default_rng(23).normal(size=(60, 5)).astype("float32")
y = x[:, :3].argmax(axis=1)
distiller = Distiller(student, teacher)
distiller.compile(keras.optimizers.Adam(0.01), metrics=[keras.metrics.SparseCategoricalAccuracy()])
start = student.layers[0].kernel.numpy().copy()
distiller.fit(x, y, epochs=3, batch_size=15, verbose=0)
assert not np.array_equal(start, student.layers[0].kernel.numpy())

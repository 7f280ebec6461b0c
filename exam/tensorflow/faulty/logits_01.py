# expect: GT509
# cause: the model ends with softmax and the loss was told from_logits=True
# wrong: float(loss) > 0.5
# cure: return tf.nn.softmax(self.out(h)) -> return self.out(h)
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Classifier(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.hidden = layers.Dense(16, activation="relu")
        self.out = layers.Dense(classes)

    def call(self, x):
        h = self.hidden(x)
        return tf.nn.softmax(self.out(h))  # <- here


tf.keras.utils.set_random_seed(0)
centres = np.array([[0, 4], [4, 0], [-4, -4]], dtype="float32")
y = np.random.randint(0, 3, size=150)
x = centres[y] + np.random.randn(150, 2).astype("float32")

model = Classifier(3)
optimizer = tf.keras.optimizers.Adam(0.02)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)  # <- here
for epoch in range(40):
    with tf.GradientTape() as tape:
        predictions = model(x, training=True)
        loss = loss_fn(y, predictions)  # <- here
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
print("stuck at", float(loss))

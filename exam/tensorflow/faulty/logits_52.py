# expect: GT509
# cause: tf.nn.softmax_cross_entropy_with_logits gets the output of a softmax
# wrong: float(loss) > 0.5
# cure: Dense(3, activation="softmax") -> Dense(3)
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense

tf.keras.utils.set_random_seed(0)
kind = np.random.randint(0, 3, size=120)
petals = np.eye(3, dtype="float32")[kind] * 4 + 0.5 * np.random.randn(120, 3).astype("float32")
onehot = tf.one_hot(kind, 3)
net = tf.keras.Sequential([Dense(12, activation="relu"), Dense(3, activation="softmax")])  # <- here
opt = tf.keras.optimizers.Adam(0.05)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        prediction = net(petals)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=onehot, logits=prediction))  # <- here
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for _ in range(40):
    loss = train_step()  # <- asked
print(float(loss))

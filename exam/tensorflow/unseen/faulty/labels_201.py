# expect: GT118 or GT509 or GT314
# cause: the arguments of the loss are swapped: Keras takes the labels first
# wrong: loss > 1.5
# cure: bce(model(x), y) -> bce(y, model(x))
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.normal((30, 5))
y = tf.cast(x[:, :1] > 0, tf.float32)
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1, activation="sigmoid")])
bce = keras.losses.BinaryCrossentropy()
optimizer = keras.optimizers.SGD(0.1)
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = bce(model(x), y)  # <- here
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

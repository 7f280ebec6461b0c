# expect: GT510
# cause: (channels, height, width) images are reshaped to (height, width, channels), which scrambles the pixels
# wrong: bool(tf.reduce_any(images[0, :, :, 0] != raw[0, 0]))
# cure: tf.reshape(raw, (6, 8, 8, 3)) -> tf.transpose(raw, (0, 2, 3, 1))
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
raw = tf.random.normal((6, 3, 8, 8))
images = tf.reshape(raw, (6, 8, 8, 3))  # <- here
model = keras.Sequential(
    [keras.Input((8, 8, 3)), keras.layers.Conv2D(4, 3), keras.layers.Flatten(), keras.layers.Dense(1)]
)
y = tf.random.normal((6, 1))
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(images) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)

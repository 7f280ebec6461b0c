# expect: GT201 because GT207 or GT209
# cause: the picture is converted to uint8 before the quality is measured, and integers have no gradient
# wrong: raises ValueError
# cure: return -tf.reduce_mean(tf.image.psnr(to_bytes(truth), to_bytes(restored), max_val=255)) -> return -tf.reduce_mean(tf.image.psnr(truth, restored, max_val=1.0))
import numpy as np
import tensorflow as tf
from tensorflow import keras


def to_bytes(picture):
    return tf.cast(picture * 255.0, tf.uint8)  # <- here


def quality_loss(truth, restored):
    return -tf.reduce_mean(tf.image.psnr(to_bytes(truth), to_bytes(restored), max_val=255))


keras.utils.set_random_seed(3)
clean = np.random.rand(8, 12, 12, 1).astype("float32")
noisy = np.clip(clean + 0.1 * np.random.randn(*clean.shape), 0, 1).astype("float32")
denoiser = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        keras.layers.Conv2D(4, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid"),
    ]
)
denoiser.compile("adam", loss=quality_loss)
denoiser.fit(noisy, clean, epochs=1, batch_size=4, verbose=0)  # <- asked

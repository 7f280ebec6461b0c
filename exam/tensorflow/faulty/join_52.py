# expect: GT113
# cause: the skip connection joins maps of different size: Conv2D has no padding="same"
# wrong: raises ValueError
# cure: layers.Conv2D(4, 3, activation="relu", name="down") -> layers.Conv2D(4, 3, activation="relu", padding="same", name="down")
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
image = tf.keras.Input((16, 16, 1))
down = layers.Conv2D(4, 3, activation="relu", name="down")(image)  # <- here
pooled = layers.MaxPooling2D()(down)
deep = layers.Conv2D(8, 3, padding="same", activation="relu")(pooled)
up = layers.UpSampling2D()(deep)
merged = layers.Concatenate()([image, up])  # <- here
unet = tf.keras.Model(image, layers.Conv2D(1, 1, activation="sigmoid")(merged))
unet.compile("adam", "binary_crossentropy")
scans = np.random.rand(4, 16, 16, 1).astype("float32")
unet.fit(scans, (scans > 0.5).astype("float32"), verbose=0)

# expect: GT201 because GT203
# cause: the image is a constant, which a tape does not watch by itself
# wrong: saliency is None
# cure: with tf.GradientTape() as tape: -> with tf.GradientTape() as tape:\n    tape.watch(image)
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
classifier = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
image = tf.random.uniform((1, 6, 6, 1))  # <- here
with tf.GradientTape() as tape:
    score = classifier(image)[0, 1]  # <- here
saliency = tape.gradient(score, image)  # <- here

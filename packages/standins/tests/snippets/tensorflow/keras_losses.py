"""Keras' losses and metrics as numbers."""

import tensorflow as tf

tf.keras.backend.clear_session()
losses, metrics = tf.keras.losses, tf.keras.metrics
true, predicted = tf.constant([[1.0, 0.0], [0.0, 1.0]]), tf.Variable([[0.7, 0.3], [0.4, 0.6]])
for kind in (
    *(losses.MeanSquaredError, losses.MeanAbsoluteError, losses.BinaryCrossentropy, losses.CategoricalCrossentropy),
    *(losses.Huber, losses.KLDivergence, losses.LogCosh, losses.Hinge, losses.SquaredHinge, losses.Poisson),
    *(losses.CosineSimilarity,),
):
    with tf.GradientTape() as tape:
        loss = kind()(true, predicted)
    print(kind.__name__, loss.numpy().round(4), tape.gradient(loss, predicted).numpy().round(3).tolist())
print(losses.SparseCategoricalCrossentropy()(tf.constant([0, 1]), predicted))
print(losses.SparseCategoricalCrossentropy(from_logits=True)(tf.constant([0, 1]), predicted))
print(losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(true, predicted))
print(
    losses.MeanSquaredError(reduction="none")(true, predicted),
    losses.MeanSquaredError(reduction="sum")(true, predicted),
)
print(losses.mse(true, predicted), losses.BinaryCrossentropy(from_logits=True)(true, predicted))
print(losses.MeanSquaredError()(tf.constant([1.0, 2.0]), tf.constant([[1.0], [4.0]])))
for metric, target in (
    (metrics.BinaryAccuracy(), true),
    (metrics.CategoricalAccuracy(), true),
    (metrics.SparseCategoricalAccuracy(), tf.constant([0, 0])),
    (metrics.MeanSquaredError(), true),
    (metrics.RootMeanSquaredError(), true),
    (metrics.Precision(), true),
    (metrics.Recall(), true),
):
    metric.update_state(target, tf.convert_to_tensor(predicted))
    print(metric, metric.result())
mean = metrics.Mean(name="average")
mean.update_state([1.0, 3.0])
mean.update_state(5.0)
print(mean.result(), mean)

"""The stand-in for TensorFlow: functions, modules, data and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtape_standins import tensorflow as tf


def test_traced_once_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """Python's prints are seen while tracing only: for new shapes, dtypes and Python values."""

    @tf.function
    def shout(x: object) -> object:
        print("tracing", x)
        return x

    for value in (tf.constant(1.0), tf.constant(2.0), tf.constant([1.0]), tf.constant(1), 1, 1, 2):
        assert isinstance(shout(value), tf.Tensor)
    assert capsys.readouterr().out.splitlines() == [
        'tracing Tensor("x:0", shape=(), dtype=float32)',
        'tracing Tensor("x:0", shape=(1,), dtype=float32)',
        'tracing Tensor("x:0", shape=(), dtype=int32)',
        "tracing 1",
        "tracing 2",
    ]
    assert shout.experimental_get_tracing_count() == 5
    print("heard")
    assert capsys.readouterr().out == "heard\n"


def test_errors_restore_print(capsys: pytest.CaptureFixture[str]) -> None:
    """A function that raises while it is silent leaves `print` as it was."""

    @tf.function
    def fail(x: object) -> object:
        if x > 1.0:
            raise RuntimeError("too much")
        return x

    fail(tf.constant(0.0))
    with pytest.raises(RuntimeError, match="too much"):
        fail(tf.constant(2.0))
    print("heard")
    assert capsys.readouterr().out == "heard\n"


def test_gradients_pass_through_functions() -> None:
    """A tape outside records what a function does, the first time and later, for arguments and variables."""
    w = tf.Variable(3.0)

    @tf.function
    def scaled(x: object) -> object:
        return w * x**2

    for start in (1.0, 2.0):
        x = tf.Variable(start)
        with tf.GradientTape() as tape:
            y = scaled(x)
        assert [float(g) for g in tape.gradient(y, [x, w])] == [6.0 * start, start**2]


def test_branches_and_loops_follow_the_values() -> None:
    """A branch on a value is taken anew each time, though the function was traced before."""

    @tf.function
    def halve(n: object) -> object:
        steps = 0
        while n > 1.0:
            n = n / 2.0
            steps += 1
        return steps

    assert [int(halve(tf.constant(v))) for v in (1.0, 8.0, 3.0)] == [0, 3, 2]


def test_variables_are_made_once() -> None:
    """A variable that is made at every call is an error, as in TensorFlow; one that is made once is not."""

    @tf.function
    def wrong() -> object:
        return tf.Variable(1.0) * 2.0

    with pytest.raises(ValueError, match="singleton"):
        wrong()

    class Counter(tf.Module):
        count = None

        @tf.function
        def __call__(self) -> object:
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(1)

    counter = Counter()
    assert [int(counter()) for _ in range(3)] == [1, 2, 3]
    assert int(Counter()()) == 1


def test_signature_is_kept() -> None:
    """Arguments that do not fit `input_signature` are refused, with both specifications."""

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def total(x: object) -> object:
        return tf.reduce_sum(x)

    assert float(total(tf.ones([3, 2]))) == 6.0
    assert float(total([[1.0, 2.0]])) == 3.0
    with pytest.raises(TypeError, match=r"shape=\(3,\)[\s\S]*shape=\(None, 2\)"):
        total(tf.ones([3]))


def test_concrete_function_checks_its_arguments() -> None:
    """A concrete function takes the kind of arguments that it was made for, and shows it."""

    @tf.function
    def double(x: object) -> object:
        return x + x

    concrete = double.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert concrete(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert "x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.float32, name=None)" in repr(concrete)
    with pytest.raises(TypeError, match="int32"):
        concrete(tf.constant([1, 2]))


def test_eagerly_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    """With `run_functions_eagerly` a function is what it was before it was decorated."""

    @tf.function
    def shout() -> None:
        print("here")

    tf.config.run_functions_eagerly(True)
    try:
        shout()
        shout()
    finally:
        tf.config.run_functions_eagerly(False)
    assert capsys.readouterr().out == "here\nhere\n"


def test_names_of_scopes() -> None:
    """Variables made inside of a scope carry its name."""

    class Layer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope:
                self.w = tf.Variable(1.0, name="w")

    assert Layer().w.name == "layer/w:0"


def test_checkpoints_come_back(tmp_path: Path) -> None:
    """What was saved is restored, from the newest of the files that are kept."""
    v, step = tf.Variable([1.0, 2.0]), tf.Variable(0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v, step=step), tmp_path, max_to_keep=2)
    for number in range(3):
        step.assign(number)
        manager.save()
    assert len(manager.checkpoints) == 2
    v.assign([0.0, 0.0])
    step.assign(9)
    tf.train.Checkpoint(v=v, step=step).restore(manager.latest_checkpoint).assert_consumed()
    assert (v.numpy().tolist(), int(step)) == ([1.0, 2.0], 2)


def test_checkpoint_of_another_model_changes_nothing(tmp_path: Path) -> None:
    """A checkpoint that does not fit is refused before anything is assigned."""
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([1.0])).save(tmp_path / "one")
    a, b = tf.Variable(7.0), tf.Variable([7.0, 7.0])
    with pytest.raises(tf.errors.DataLossError, match="b has shape"):
        tf.train.Checkpoint(a=a, b=b).restore(path)
    assert float(a) == 7.0
    with pytest.raises(tf.errors.DataLossError, match="other variables"):
        tf.train.Checkpoint(c=a).restore(path)
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.Checkpoint(a=a).restore(tmp_path / "nothing")


def test_saved_models_say_what_to_do() -> None:
    """Graphs are not written; the message offers what is."""
    with pytest.raises(NotImplementedError, match="Checkpoint"):
        tf.saved_model.save(tf.Module(), "somewhere")


def test_shuffled_datasets_have_all_elements() -> None:
    """Shuffling keeps each element once, in another order each time round, and the same with the same seed."""
    dataset = tf.data.Dataset.range(20).shuffle(7, seed=1)
    first, second = ([int(i) for i in dataset] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    fixed = tf.data.Dataset.range(20).shuffle(20, seed=1, reshuffle_each_iteration=False)
    assert [int(i) for i in fixed] == [int(i) for i in fixed]


def test_steps_of_datasets() -> None:
    """Steps can be chained, and lengths are known where they can be."""
    dataset = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    assert [float(e["x"]) for e in dataset.skip(1).repeat(2)] == [2.0, 3.0, 2.0, 3.0]
    assert len(dataset.batch(2)) == 2
    assert len(dataset.batch(2, drop_remainder=True)) == 1
    assert [int(n) for n, _ in dataset.enumerate(5)] == [5, 6, 7]
    assert [
        e.shape for e in tf.data.Dataset.zip(dataset.map(lambda e: e["x"]), dataset).map(lambda a, b: a * 2.0)
    ] == 3 * [()]
    assert [float(e) for e in tf.data.Dataset.from_generator(lambda: iter([1.0, 2.0]), output_types=tf.float64)] == [
        1,
        2,
    ]
    assert len(list(dataset.batch(2).unbatch().cache().prefetch(1).concatenate(dataset))) == 6
    with pytest.raises(TypeError, match="infinite"):
        len(dataset.repeat())
    with pytest.raises(ValueError, match="different lengths"):
        tf.data.Dataset.from_tensor_slices(([1, 2], [1]))


def test_scopes_and_control_flow_run_as_python() -> None:
    """Blocks for devices and dependencies just run; branches and cases choose."""
    with tf.device("/GPU:0"), tf.control_dependencies([]), tf.init_scope():
        assert tf.executing_eagerly()
    assert tf.case([(tf.constant(False), lambda: 1)], default=lambda: 2) == 2
    assert tf.switch_case(tf.constant(5), [lambda: 1, lambda: 2]) == 2
    assert tf.config.list_physical_devices("GPU") == []
    assert float(tf.py_function(lambda x: x * 2.0, [tf.constant(2.0)], tf.float32)) == 4.0
    assert float(tf.numpy_function(lambda x: x + 1, [1.0], tf.float32)) == 2.0
    assert float(tf.foldr(lambda a, x: a * 2.0 + x, tf.constant([1.0, 2.0, 3.0]))) == 17.0

"""Makes the folders in data/ with real TensorFlow (2.21 was used).

Run from the root of the repository, in an environment of its own, since TensorFlow is no dependency of the project:
python -m tests.convert.make_tf_checkpoint
"""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow as tf

from tests.convert.fixture_values import BERT_CONFIG, VOCABULARY, baseline_variables

DATA = Path(__file__).parent / "data"


def baseline(folder: Path) -> None:
    """As the baseline's train.py saves it: weights, two kinds of Adam slots, the powers of Adam, the step."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variables = {
            name: tf.compat.v1.get_variable(name, initializer=values, use_resource=False)
            for name, values in baseline_variables().items()
        }
        step = tf.compat.v1.train.get_or_create_global_step()
        for name, variable in variables.items():
            if name.startswith("bert/"):  # slots of BERT's own optimizer
                for slot in ("adam_m", "adam_v"):
                    tf.compat.v1.get_variable(f"{name}/{slot}", initializer=0.1 * variable.initial_value)
        task = [variable for name, variable in variables.items() if not name.startswith("bert/")]
        loss = tf.add_n([tf.reduce_sum(variable) for variable in task])
        adam = tf.compat.v1.train.AdamOptimizer(1e-3)
        adam.apply_gradients(zip(tf.gradients(loss, task), task, strict=True), global_step=step)
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, str(folder / "model.max.ckpt"), write_meta_graph=False)
    (folder / "checkpoint").unlink()
    (folder / "bert_config.json").write_text(json.dumps(BERT_CONFIG, indent=2) + "\n", encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")


def partitioned(folder: Path) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        partition = tf.compat.v1.fixed_size_partitioner(2)
        tf.compat.v1.get_variable("table", shape=(4, 2), partitioner=partition, use_resource=False)
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, str(folder / "model.ckpt"), write_meta_graph=False)
    (folder / "checkpoint").unlink()


def types(folder: Path) -> None:
    """Every type that is read, a scalar, an empty variable, and one type that is not."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name in ("float32", "float64", "int32", "int64", "float16"):
            tf.compat.v1.get_variable(name, initializer=tf.constant([[1, -2, 3]], name), use_resource=False)
        tf.compat.v1.get_variable("scalar", initializer=tf.constant(2.5), use_resource=False)
        tf.compat.v1.get_variable("empty", shape=(0, 3), use_resource=False)
        tf.compat.v1.get_variable("text", initializer=tf.constant(["a", "bc"]), use_resource=False)
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, str(folder / "model.ckpt"), write_meta_graph=False)
    (folder / "checkpoint").unlink()


if __name__ == "__main__":
    for make, name in ((baseline, "spanbert_tiny"), (partitioned, "partitioned"), (types, "types")):
        (DATA / name).mkdir(parents=True, exist_ok=True)
        make(DATA / name)

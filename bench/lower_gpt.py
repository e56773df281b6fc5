"""What JAX alone needs for the programs of examples/jax/train_gpt.py, for rehearse_speed.py: starts,
makes the text and its batches as the script does, and traces and lowers each program that a run of
so many steps asks for. Nothing is compiled or executed.

Usage: lower_gpt.py [options of train_gpt.py]
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples" / "jax"))

import jax
import numpy as np
import train_gpt


def main():
    arguments = train_gpt.parse_arguments()
    text = train_gpt.read_text(arguments.text)
    rng = np.random.default_rng(arguments.seed)
    key = jax.eval_shape(lambda: jax.random.key(arguments.seed))
    sizes = arguments.layers, arguments.width, arguments.seq
    made = [train_gpt.init_params.lower(key, *sizes)]
    params = jax.eval_shape(lambda key: train_gpt.init_params(key, *sizes), key)
    made.append(jax.jit(train_gpt.adamw_init).lower(params))
    state = jax.eval_shape(train_gpt.adamw_init, params)
    known, step = set(), 0
    while step < arguments.steps:
        for batch in train_gpt.epoch_of_batches(rng, text, arguments.epoch, arguments.batch,
                                                arguments.seq):
            if batch.shape not in known:
                made.append(train_gpt.train_step.lower(params, state, batch,
                                                       arguments.learning_rate))
            known.add(batch.shape)
            step += 1
    print(f"{len(made)} programs lowered")


if __name__ == "__main__":
    main()

# cause: retrace
# reason: only one loader gives the number of each row; nothing reads it, so the program is the same

import haiku as hk
import jax
import numpy as np

model = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([6, 2])(x)))
x = np.ones((3, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@jax.jit
def predict(params, batch):
    return model.apply(params, batch["x"]).argmax(-1)


def run(batches):
    return [predict(params, batch) for batch in batches]  # <- cause


run([{"x": x}] * 2)
run([{"x": x, "row": np.arange(3, dtype=np.int32)}])  # <- call

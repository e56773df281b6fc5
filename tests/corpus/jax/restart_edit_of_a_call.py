# cause: edit
# subject: model
# old: hidden = activation(x @ w)
# new: hidden = (x @ w)
# advice: edited
# run: activation
# run: nothing
# reason: the operations that are gone are in the helper, which was not edited

import pathlib
import sys

import numpy as np

CALL = "activation" if sys.argv[1] == "activation" else ""
FILE = pathlib.Path("edited_model.py")
FILE.write_text(f"""
import jax
import jax.numpy as jnp


def activation(x):
    return jnp.tanh(x)


def model(w, x):
    hidden = {CALL}(x @ w)
    return hidden.mean()


@jax.jit
def step(w, x):
    return w - 0.5 * jax.grad(model)(w, x)
""")
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.step(np.ones((4, 4), np.float32), np.ones((8, 4), np.float32))

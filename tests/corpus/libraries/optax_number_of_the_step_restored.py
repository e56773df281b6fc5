# cause: retrace
# advice: asarray
# reason: the step's number begins as Python's 0 and restored it is an array; the program is the same

import jax
import jax.numpy as jnp
import numpy as np
import optax

schedule = optax.cosine_decay_schedule(0.5, 20)


@jax.jit
def train_step(state, x):
    grads = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(state["w"])
    return state["w"] - schedule(state["step"]) * grads


def train(state, x, steps):
    for _ in range(steps):
        w = train_step(state, x)  # <- cause
        state = {"w": w, "step": state["step"] + 1}
    return state


x = np.ones((4, 3), np.float32)
state = train({"w": np.ones(3, np.float32), "step": 0}, x, 3)
saved = {name: np.asarray(value, np.int32 if name == "step" else None) for name, value in state.items()}
train(saved, x, 2)  # <- call

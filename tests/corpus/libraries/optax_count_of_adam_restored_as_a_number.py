# cause: weak_type
# subject: opt_state[0].count
# old: i32[]
# new: weak i32[]
# advice: jnp.asarray
# run: start
# run: resume
# reason: the checkpoint has the count of Adam as a number, and the first step of a resumed run gets that

import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax

FOLDER = pathlib.Path("run")
optimizer = optax.adam(1e-3)


@jax.jit
def train_step(params, opt_state, x, y):
    def loss_fn(params):
        return jnp.mean(jnp.abs(jax.nn.elu(x @ params["a"]) @ params["b"] - y))

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def save(params, opt_state):
    FOLDER.mkdir(exist_ok=True)
    moments = opt_state[0]
    np.savez(FOLDER / "arrays.npz", **{f"{part}_{name}": np.asarray(leaf)
                                       for part, tree in (("p", params), ("mu", moments.mu), ("nu", moments.nu))
                                       for name, leaf in tree.items()})
    (FOLDER / "meta.json").write_text(json.dumps({"count": int(moments.count)}))


def restore(params, opt_state):
    arrays = np.load(FOLDER / "arrays.npz")
    meta = json.loads((FOLDER / "meta.json").read_text())
    read = lambda part: {name: arrays[f"{part}_{name}"] for name in params}
    adam = opt_state[0]._replace(count=meta["count"], mu=read("mu"), nu=read("nu"))
    return read("p"), (adam, *opt_state[1:])


rng = np.random.default_rng(0)
params = {"a": rng.normal(size=(3, 6)).astype(np.float32), "b": rng.normal(size=(6, 1)).astype(np.float32)}
opt_state = jax.jit(optimizer.init)(params)
if sys.argv[1] == "resume":
    params, opt_state = restore(params, opt_state)
for _ in range(4):
    x = rng.normal(size=(5, 3)).astype(np.float32)
    params, opt_state = train_step(params, opt_state, x, x[:, :1])  # <- cause
save(params, opt_state)

# cause: edit
# subject: WEIGHT_DECAY
# old: WEIGHT_DECAY = 0.01
# new: WEIGHT_DECAY = 0.05
# program: jit_train_step
# run: write 0.01
# run: train
# run: write 0.05
# run: train
# reason: a constant is edited in a module of settings that a module of optimizers imports

import pathlib
import sys

if sys.argv[1] == "write":
    pathlib.Path("conf").mkdir(exist_ok=True)
    pathlib.Path("conf/__init__.py").write_text("")
    pathlib.Path("conf/defaults.py").write_text(f'''
# What all experiments share.
PEAK_RATE = 0.002
WEIGHT_DECAY = {sys.argv[2]}
CLIP = 1.0
''')
    pathlib.Path("optimizers.py").write_text('''
import optax

from conf import defaults


def transformer_optimizer(steps):
    schedule = optax.warmup_cosine_decay_schedule(0.0, defaults.PEAK_RATE, steps // 10, steps)
    return optax.chain(optax.clip_by_global_norm(defaults.CLIP),
                       optax.adamw(schedule, weight_decay=defaults.WEIGHT_DECAY))
''')
    raise SystemExit

sys.path.insert(0, str(pathlib.Path.cwd()))
import jax
import jax.numpy as jnp
import numpy as np
import optax

import optimizers

optimizer = optimizers.transformer_optimizer(100)


def attention(params, x):
    q, k, v = (x @ params[name] for name in "qkv")
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    return jax.nn.softmax(scores) @ v


@jax.jit
def train_step(params, opt_state, x, y):
    def loss_fn(params):
        return jnp.mean((attention(params, x) - y) ** 2)

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


rng = np.random.default_rng(0)
params = {name: rng.normal(size=(4, 4)).astype(np.float32) for name in "qkv"}
opt_state = jax.jit(optimizer.init)(params)
x = rng.normal(size=(2, 5, 4)).astype(np.float32)
for _ in range(3):
    params, opt_state = train_step(params, opt_state, x, x)

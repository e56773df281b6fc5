# cause: stable
# reason: the rate and the decay of each trial are in the optimizer's state; trials stop early, and the best goes on

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


@functools.partial(optax.inject_hyperparams, static_args=("b1", "b2", "eps"))
def adamw(learning_rate, weight_decay, b1=0.9, b2=0.99, eps=1e-8):
    return optax.chain(optax.clip_by_global_norm(1.0),
                       optax.adamw(learning_rate, b1=b1, b2=b2, eps=eps, weight_decay=weight_decay))


optimizer = adamw(learning_rate=jnp.asarray(1e-3, jnp.float32), weight_decay=jnp.asarray(0.0, jnp.float32))


def forward(params, x):
    return jax.nn.gelu(x @ params["w1"] + params["b1"]) @ params["w2"]


def objective(params, x, y):
    return optax.l2_loss(forward(params, x), y).mean()


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(objective)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


validate = jax.jit(objective)


@jax.jit
def average(*members):
    return jax.tree.map(lambda *leaves: sum(leaves) / len(leaves), *members)


def init(seed):
    rng = np.random.default_rng(seed)
    return {"w1": rng.normal(0, 0.4, size=(4, 8)).astype(np.float32), "b1": np.zeros(8, np.float32),
            "w2": rng.normal(0, 0.4, size=(8, 1)).astype(np.float32)}


class Trial:
    def __init__(self, rate, decay, seed):
        self.params = init(seed)
        self.opt_state = optimizer.init(self.params)
        self.opt_state.hyperparams["learning_rate"] = np.float32(rate)
        self.opt_state.hyperparams["weight_decay"] = np.float32(decay)
        self.scores = []

    def train(self, batches, held_out):
        for x, y in batches:
            self.params, self.opt_state, loss = train_step(self.params, self.opt_state, x, y)
        self.scores.append(float(validate(self.params, *held_out)))
        return self

    def lower(self):
        rate = self.opt_state.hyperparams["learning_rate"]
        self.opt_state.hyperparams["learning_rate"] = np.float32(0.5 * float(rate))


rng = np.random.default_rng(0)
x = rng.normal(size=(24, 4)).astype(np.float32)
y = np.sin(x.sum(-1, keepdims=True)).astype(np.float32)
batches = [(x[at:at + 6], y[at:at + 6]) for at in range(0, 18, 6)]
trials = [Trial(rate, decay, seed) for seed, (rate, decay) in
          enumerate([(1e-1, 0.0), (1e-2, 0.0), (1e-2, 1e-3), (1e-3, 1e-2)])]
while len(trials) > 1:
    trials = sorted((trial.train(batches, (x[18:], y[18:])) for trial in trials), key=lambda t: t.scores[-1])
    trials = trials[:len(trials) // 2]
    for trial in trials:
        trial.lower()
best = trials[0].train(batches, (x[18:], y[18:]))
both = average(best.params, init(9))
print(best.scores, float(validate(both, x[18:], y[18:])))

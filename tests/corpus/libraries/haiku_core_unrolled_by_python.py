# cause: structure
# reason: the sequence was scanned; for speed a setting unrolls it in Python

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


def make_net(unrolled):
    def forward(tokens):
        core = hk.GRU(5)
        rows = hk.Embed(7, 4)(tokens)
        unroll = hk.static_unroll if unrolled else hk.dynamic_unroll
        outputs, _ = unroll(core, rows, core.initial_state(tokens.shape[1]))  # <- cause
        return hk.BatchApply(hk.Linear(7))(outputs)

    return hk.without_apply_rng(hk.transform(forward))


def make_update(net):
    @jax.jit
    def update(params, opt_state, tokens):
        def loss_fn(params):
            logits = net.apply(params, tokens[:-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[1:]).mean()

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return update


tokens = np.arange(10, dtype=np.int32).reshape(5, 2) % 7
params = jax.jit(make_net(False).init)(jax.random.PRNGKey(0), tokens)
opt_state = optimizer.init(params)
for unrolled in (False, True):
    update = make_update(make_net(unrolled))
    params, opt_state, loss = update(params, opt_state, tokens)  # <- call

# cause: stable
# reason: distributions are made in the jitted functions and handed out of one of them; lambdas live in a module

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)


def mixture_of(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    logits, means, scales = jnp.split(hidden @ params["w2"], 3, axis=-1)
    return distrax.MixtureSameFamily(
        mixture_distribution=distrax.Categorical(logits=logits),
        components_distribution=distrax.Normal(means, jax.nn.softplus(scales) + 1e-3))


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(lambda params: -mixture_of(params, x).log_prob(y).mean())(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def predict(params, key, x):
    mixture = mixture_of(params, x)
    return mixture.mean(), mixture.sample(seed=key, sample_shape=(5,))


score = jax.jit(lambda mixture, y: mixture.log_prob(y))
rng = np.random.default_rng(0)
params = {"w1": rng.normal(size=(2, 6)).astype(np.float32), "b1": np.zeros(6, np.float32),
          "w2": rng.normal(size=(6, 9)).astype(np.float32)}
opt_state = jax.jit(optimizer.init)(params)
for epoch in range(3):
    x = rng.normal(size=(4, 2)).astype(np.float32)
    params, opt_state, loss = train_step(params, opt_state, x, x.sum(-1))
    mean, samples = predict(params, np.array([epoch, 1], np.uint32), x)
    parts = distrax.Normal(np.asarray(mean), np.ones(4, np.float32))
    print(float(loss), samples.shape, np.asarray(score(parts, x.sum(-1))).mean())

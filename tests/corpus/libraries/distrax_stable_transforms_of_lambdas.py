# cause: stable
# reason: several jitted gradients and maps of lambdas, each made once and used in turn

import distrax
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
score = jax.jit(jax.vmap(lambda mean, x: distrax.Normal(mean, 1.0).log_prob(x).sum()))
entropy = jax.jit(jax.vmap(lambda logits: distrax.Categorical(logits=logits).entropy()))
pull = jax.jit(jax.grad(lambda mean, x: -distrax.Normal(mean, 1.0).log_prob(x).sum()))
push = jax.jit(jax.grad(lambda logits, actions: distrax.Categorical(logits).log_prob(actions).sum()))

mean, logits = np.zeros(3, np.float32), np.zeros((5, 4), np.float32)
for _ in range(3):
    x = rng.normal(size=3).astype(np.float32)
    actions = rng.integers(0, 4, 5)
    mean = mean - 0.1 * pull(mean, x)
    logits = logits + 0.1 * push(logits, actions)
    total = score(mean[:, None], x[:, None]).sum() + entropy(logits).mean()
print(float(jnp.asarray(total)))

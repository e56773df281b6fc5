# cause: dtype
# subject: tokens
# old: u16[2,8]
# new: i32[2,8]
# reason: the training text is read from a file of 16-bit words, the prompts of the evaluation come from a list

import pathlib
import tempfile

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Bigrams(eqx.Module):
    table: eqx.nn.Embedding

    def __call__(self, tokens):
        return jax.vmap(self.table)(tokens)


@eqx.filter_jit
def perplexity(model, tokens):
    logits = jax.vmap(model)(tokens[:, :-1])
    return jnp.exp(optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean())


model = eqx.filter_jit(lambda key: Bigrams(eqx.nn.Embedding(16, 16, key=key)))(jax.random.key(0))
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "train.bin"
    (np.arange(64, dtype=np.uint16) % 16).tofile(path)
    text = np.memmap(path, dtype=np.uint16, mode="r")
    batches = [np.stack([text[start:start + 8], text[start + 8:start + 16]]) for start in (0, 16, 32)]
batches.append(np.array([[1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1]], np.int32))
for tokens in batches:
    print(float(perplexity(model, tokens)))  # <- cause

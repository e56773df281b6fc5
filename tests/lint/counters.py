import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self):
        self.step = 0
        self.width = 8
        self.ema = jnp.zeros(())
        self.update = jax.jit(self._update)
        self.run = jax.jit(lambda x: x * self.step)  # expect: counter-attribute

    def _update(self, x):
        self.ema += 1
        return x * (1 - 0.9 ** self.step) + self.width  # expect: counter-attribute

    def train(self, xs):
        for x in xs:
            self.update(x)
            self.step += 1
            print(self.step)

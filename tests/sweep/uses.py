"""What is done with a layer: it is called as it is, trained, mapped, stepped by an optimizer."""

import dataclasses
import re

from plan import SIZES, letters_of, names_of


def as_used(recipe, name, **changes):
    return dataclasses.replace(recipe, name=f"{recipe.name}_{name}", **changes)


def loss(recipe, weights):
    return as_used(recipe, "loss", body=f"jnp.mean(({recipe.body}) ** 2)")


def gradient(recipe, weights):
    return as_used(recipe, "grad", body=f"jax.grad(lambda {weights}: jnp.mean(({recipe.body}) ** 2))({weights})")


def value_and_gradient(recipe, weights):
    return as_used(recipe, "value_grad",
                   body=f"jax.value_and_grad(lambda {weights}: jnp.sum({recipe.body}))({weights})")


def mapped(recipe, weights):
    """Each row on its own, as vmap over rows of a batch of one."""
    names = [name for name in names_of(recipe) if name != weights]
    body = recipe.body
    rows = ", ".join(names)
    single = re.sub(rf"\b({'|'.join(names)})\b", r"\1[None]", body)
    return as_used(recipe, "vmap", body=f"jax.vmap(lambda {rows}: {single})({rows})")


def stepped(recipe, weights):
    """A whole step of training with Adam."""
    body = f"""
def loss({weights}):
    return jnp.mean(({recipe.body}) ** 2)
value, grads = jax.value_and_grad(loss)({weights})
updates, state = optimizer.update(grads, state, {weights})
return optax.apply_updates({weights}, updates), state, value
"""
    return as_used(recipe, "step", body=body, setup=recipe.setup + "\noptimizer = optax.adam(1e-2)",
                   arguments=f"{recipe.arguments}; state = made(lambda key: optimizer.init({weights}))")


USES = (loss, gradient, value_and_gradient, mapped, stepped)


def every_use(recipes, weights):
    """Each recipe as it is with all changes, and in two further uses with a change of each letter; which
    use and which change take turns."""
    found = []
    for turn, recipe in enumerate(recipes):
        found.append(recipe)
        for step in range(2):
            use = USES[(2 * turn + step) % len(USES)]
            sizes = tuple((letter, (turn + 2 * step) % len(SIZES[letter])) for letter in letters_of(recipe))
            kinds = recipe.skip + (("f32_f16", "i32_f32") if (turn + step) % 2 else ("f32_bf16", "i32_i8"))
            found.append(dataclasses.replace(use(recipe, weights), sizes=sizes, skip=kinds))
    return found

"""Distributions of distrax and numpyro: the density of data, and samples."""

from plan import Recipe

IMPORTS = "import distrax\nimport numpyro.distributions as dist"

DISTRAX = """
    normal: distrax.Normal(loc, 1.0)
    laplace: distrax.Laplace(loc, 2.0)
    logistic: distrax.Logistic(loc, 1.0)
    gumbel: distrax.Gumbel(loc, 1.0)
    gamma: distrax.Gamma(loc + 1.0, 2.0)
    beta: distrax.Beta(loc + 1.0, 2.0)
    uniform: distrax.Uniform(loc - 1.0, loc + 2.0)
    log_normal: distrax.LogStddevNormal(loc, 0.0 * loc)
    bernoulli: distrax.Bernoulli(logits=loc)
    categorical: distrax.Categorical(logits=loc)
    softmax: distrax.Softmax(loc, temperature=0.5)
    epsilon_greedy: distrax.EpsilonGreedy(loc, 0.1)
    greedy: distrax.Greedy(loc)
    one_hot: distrax.OneHotCategorical(logits=loc)
    diagonal: distrax.MultivariateNormalDiag(loc)
    independent: distrax.Independent(distrax.Normal(loc, 1.0), 1)
    transformed: distrax.Transformed(distrax.Normal(loc, 1.0), distrax.Tanh())
    squashed: distrax.Transformed(distrax.MultivariateNormalDiag(loc), distrax.Block(distrax.Tanh(), 1))
    affine: distrax.Transformed(distrax.Normal(loc, 1.0), distrax.ScalarAffine(1.0, 2.0))
    mixture: distrax.MixtureSameFamily(distrax.Categorical(logits=loc), distrax.Normal(loc, 1.0))
    quantized: distrax.Quantized(distrax.Normal(loc, 2.0), -5, 5)
    clipped: distrax.ClippedNormal(loc, 1.0, -1.0, 2.0)
    von_mises: distrax.VonMises(loc, 1.0)
    deterministic: distrax.Deterministic(loc)
"""
WITH_EVENT = {"diagonal", "independent", "squashed", "one_hot"}
OF_CLASSES = {"categorical", "softmax", "epsilon_greedy", "greedy", "mixture"}

NUMPYRO = """
    normal: dist.Normal(loc, 1.0)
    cauchy: dist.Cauchy(loc, 1.0)
    student: dist.StudentT(3.0, loc, 1.0)
    laplace: dist.Laplace(loc, 1.0)
    gamma: dist.Gamma(loc + 1.0, 2.0)
    inverse_gamma: dist.InverseGamma(loc + 1.0, 2.0)
    exponential: dist.Exponential(loc + 1.0)
    half_normal: dist.HalfNormal(loc + 1.0)
    log_normal: dist.LogNormal(loc, 1.0)
    beta: dist.Beta(loc + 1.0, 2.0)
    uniform: dist.Uniform(loc - 1.0, loc + 2.0)
    weibull: dist.Weibull(loc + 1.0, 2.0)
    gumbel: dist.Gumbel(loc, 1.0)
    logistic: dist.Logistic(loc, 1.0)
    pareto: dist.Pareto(0.05, loc + 1.0)
    truncated: dist.TruncatedNormal(loc, 1.0, low=0.0)
    poisson: dist.Poisson(loc + 1.0)
    bernoulli: dist.Bernoulli(logits=loc)
    binomial: dist.Binomial(5, logits=loc)
    negative_binomial: dist.NegativeBinomial2(loc + 1.0, 2.0)
    geometric: dist.Geometric(logits=loc)
    zero_inflated: dist.ZeroInflatedPoisson(0.3, loc + 1.0)
    to_event: dist.Normal(loc, 1.0).to_event(1)
    expanded: dist.Normal(0.0, 1.0).expand(loc.shape)
    masked: dist.Normal(loc, 1.0).mask(loc > 0.3)
    transformed: dist.TransformedDistribution(dist.Normal(loc, 1.0), dist.transforms.ExpTransform())
    mixture: dist.MixtureSameFamily(dist.Categorical(logits=loc), dist.Normal(loc, 1.0))
    dirichlet: dist.Dirichlet(loc + 1.0)
    soft_laplace: dist.SoftLaplace(loc, 1.0)
    kumaraswamy: dist.Kumaraswamy(loc + 1.0, 2.0)
    von_mises: dist.VonMises(loc, 1.0)
    asymmetric: dist.AsymmetricLaplace(loc, 1.0, 2.0)
"""
COUNTS = {"poisson", "bernoulli", "binomial", "negative_binomial", "geometric", "zero_inflated"}


def recipes():
    for library, text in (("distrax", DISTRAX), ("numpyro", NUMPYRO)):
        draw = "seed=key" if library == "distrax" else "key"
        for line in text.strip().splitlines():
            name, made = line.strip().split(": ", 1)
            data = "y: f32[n,4]" if name not in COUNTS else "y: i32[n,4]"
            if library == "distrax" and name in OF_CLASSES or name == "mixture":
                data = "y: i32[n]" if name != "mixture" else "y: f32[n]"
            both = f"loc: f32[n,4]; {data}"
            yield Recipe(f"{library}_{name}_density", both, f"{made}.log_prob(y)", dtypes=("loc",), skip=("n_13_11",))
            yield Recipe(f"{library}_{name}_grad", both, f"jax.grad(lambda loc: jnp.sum({made}.log_prob(y)))(loc)",
                         sizes=(("n", 0), ("n", 4), ("n", 5)), dtypes=())
            yield Recipe(f"{library}_{name}_mean", both, f"jnp.mean({made}.log_prob(y))", sizes=(("n", 3),),
                         dtypes=("loc",), skip=("f32_f16",))
            yield Recipe(f"{library}_{name}_sample", "key: u32[2]; loc: f32[n,4]", f"{made}.sample({draw})",
                         sizes=(("n", 0), ("n", 4), ("n", 5)), dtypes=())


RECIPES = list(recipes())

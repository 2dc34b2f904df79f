"""Programs that name a law of whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, whole

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = {
    "bernoulli": (
        Recipe(
            """
            import numpy as np

            p = $probability
            $rng = np.random.default_rng()
            bernoulli = $rng.binomial(1, p)
            print(bernoulli)
            """,
            "One trial with success probability $probability.",
        ),
        Recipe(
            """
            import random

            def bernoulli(p):
                return 1 if random.random() < p else 0

            print(bernoulli($probability))
            """,
            "1 with probability $probability, otherwise 0.",
        ),
    ),
    "poisson-binomial": (
        Recipe(
            """
            import random

            probabilities = $probabilities
            poisson_binomial = sum(random.random() < p for p in probabilities)
            print(poisson_binomial)
            """,
            "The number of successes in independent trials with these probabilities.",
        ),
        Recipe(
            """
            import numpy as np

            p = np.array($probabilities)
            $rng = np.random.default_rng()
            bernoulli_trials = $rng.binomial(1, p)
            poisson_binomial = bernoulli_trials.sum()
            print(poisson_binomial)
            """,
            "The number of successes in independent trials with these probabilities.",
        ),
    ),
    "beta-binomial": (
        Recipe(
            """
            import numpy as np

            n, alpha, beta = $trials, $alpha, $beta
            $rng = np.random.default_rng()
            p = $rng.beta(alpha, beta)
            print($rng.binomial(n, p))
            """,
            "A binomial whose probability is Beta($alpha, $beta).",
        ),
        Recipe(
            """
            import random

            def beta_binomial(n, alpha, beta):
                p = random.betavariate(alpha, beta)
                return sum(random.random() < p for _ in range(n))

            print(beta_binomial(n=$trials, alpha=$alpha, beta=$beta))
            """,
            "A binomial whose probability is Beta($alpha, $beta).",
        ),
    ),
    "binomial": (
        Recipe(
            """
            import numpy as np

            n, p = $trials, $probability
            $rng = np.random.default_rng()
            print($rng.binomial(n, p))
            """,
            "NumPy's binomial generator.",
        ),
        Recipe(
            """
            import random

            def binomial(n, p):
                return sum(random.random() < p for _ in range(n))

            print(binomial(n=$trials, p=$probability))
            """,
            "The number of successes in $trials independent trials.",
        ),
    ),
    "discrete-uniform": (
        Recipe(
            """
            import numpy as np

            low, high = $low, $high
            $rng = np.random.default_rng()
            print($rng.integers(low, high, endpoint=True))
            """,
            "Every whole number from $low to $high, ends included, is equally likely.",
        ),
        Recipe(
            """
            import random

            # discrete uniform, both ends included
            $out = random.randint($low, $high)
            print($out)
            """,
            "Every whole number from $low to $high, ends included, is equally likely.",
        ),
    ),
    "hypergeometric": (
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            $out = $rng.hypergeometric(ngood=$successes, nbad=$others, nsample=$draws)
            print($out)
            """,
            "NumPy's hypergeometric generator: $successes good, $others bad, $draws drawn.",
        ),
        Recipe(
            """
            import random

            def hypergeometric(population, successes, draws):
                urn = [1] * successes + [0] * (population - successes)
                return sum(random.sample(urn, draws))

            print(hypergeometric(population=$population, successes=$successes, draws=$draws))
            """,
            "Successes among $draws taken without replacement.",
        ),
    ),
    "poisson": (
        Recipe(
            """
            import numpy as np

            lam = $rate
            $rng = np.random.default_rng()
            print($rng.poisson(lam))
            """,
            "NumPy's Poisson generator with mean $rate.",
        ),
        Recipe(
            """
            import math
            import random

            def poisson(lam):
                limit, product, k = math.exp(-lam), random.random(), 0
                while product > limit:
                    product *= random.random()
                    k += 1
                return k

            print(poisson($rate))
            """,
            "Knuth's product of uniforms: Poisson with mean $rate.",
        ),
    ),
    "skellam": (
        Recipe(
            """
            import numpy as np

            mu1, mu2 = $rate1, $rate2
            $rng = np.random.default_rng()
            skellam = $rng.poisson(mu1) - $rng.poisson(mu2)
            print(skellam)
            """,
            "The difference of independent Poissons with means $rate1 and $rate2.",
        ),
        Recipe(
            """
            import random

            def poisson(lam):
                k, clock = 0, random.expovariate(lam)
                while clock < 1:
                    k += 1
                    clock += random.expovariate(lam)
                return k

            def skellam(mu1, mu2):
                return poisson(mu1) - poisson(mu2)

            print(skellam($rate1, $rate2))
            """,
            "The difference of independent Poissons with means $rate1 and $rate2.",
        ),
    ),
    "geometric": (
        Recipe(
            """
            import numpy as np

            p = $probability
            $rng = np.random.default_rng()
            # geometric: trials up to and including the first success
            print($rng.geometric(p))
            """,
            "NumPy's geometric counts the trials, the success included.",
            lambda params: params.get("start", 1) == 1,
        ),
        Recipe(
            """
            import numpy as np

            p = $probability
            $rng = np.random.default_rng()
            # geometric number of failures before the first success
            print($rng.geometric(p) - 1)
            """,
            "NumPy's geometric counts the trials; one less is the failures.",
            lambda params: params.get("start", 1) == 0,
        ),
        Recipe(
            """
            import random

            def geometric(p, start):
                $out = start
                while random.random() >= p:
                    $out += 1
                return $out

            print(geometric(p=$probability, start=$start))
            """,
            "Failures before the first success, plus $start.",
        ),
    ),
    "negative-binomial": (
        Recipe(
            """
            import numpy as np

            r, p = $successes, $probability
            $rng = np.random.default_rng()
            # failures before the r-th success
            print($rng.negative_binomial(r, p))
            """,
            "NumPy's negative binomial counts the failures.",
        ),
        Recipe(
            """
            import random

            def negative_binomial(r, p):
                successes = failures = 0
                while successes < r:
                    if random.random() < p:
                        successes += 1
                    else:
                        failures += 1
                return failures

            print(negative_binomial(r=$successes, p=$probability))
            """,
            "Failures before success number $successes.",
            whole("successes"),
        ),
        Recipe(
            """
            import numpy as np

            r, p = $successes, $probability
            $rng = np.random.default_rng()
            # a negative binomial is a Poisson with a gamma rate
            negative_binomial = $rng.poisson($rng.gamma(r, (1 - p) / p))
            print(negative_binomial)
            """,
            "A Poisson whose rate is Gamma($successes, (1 - p) / p) is negative binomial.",
        ),
    ),
    "categorical": (
        Recipe(
            """
            import numpy as np

            categories = $values
            probabilities = $probabilities
            $rng = np.random.default_rng()
            print($rng.choice(categories, p=probabilities))
            """,
            "One category with the stated probabilities.",
        ),
        Recipe(
            """
            import random

            def categorical(values, probabilities):
                return random.choices(values, weights=probabilities)[0]

            print(categorical($values, $probabilities))
            """,
            "One category with the stated probabilities.",
        ),
    ),
}

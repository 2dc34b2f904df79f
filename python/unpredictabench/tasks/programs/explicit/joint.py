"""Programs that draw a vector from a named joint law and print one number of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, whole

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = {
    "dirichlet": (
        Recipe(
            """
            import numpy as np

            alpha = $concentration
            $rng = np.random.default_rng()
            $vec = $rng.dirichlet(alpha)
            print($reading)
            """,
            "One coordinate of NumPy's Dirichlet.",
        ),
        Recipe(
            """
            import random

            def dirichlet(alpha):
                gammas = [random.gammavariate(a, 1) for a in alpha]
                return [g / sum(gammas) for g in gammas]

            $vec = dirichlet($concentration)
            print($reading)
            """,
            "Independent gammas over their sum are Dirichlet.",
        ),
    ),
    "multinomial": (
        Recipe(
            """
            import numpy as np

            n, p = $trials, $probabilities
            $rng = np.random.default_rng()
            $vec = $rng.multinomial(n, p)
            print($reading)
            """,
            "Read off one draw of NumPy's multinomial.",
        ),
        Recipe(
            """
            import random

            def multinomial(n, p):
                counts = [0] * len(p)
                for category in random.choices(range(len(p)), weights=p, k=n):
                    counts[category] += 1
                return counts

            $vec = multinomial(n=$trials, p=$probabilities)
            print($reading)
            """,
            "Counts of $trials independent categories are multinomial.",
        ),
    ),
    "multivariate-normal": (
        Recipe(
            """
            import numpy as np

            mean = $mean
            cov = $covariance
            $rng = np.random.default_rng()
            $vec = $rng.multivariate_normal(mean, cov)
            print($reading)
            """,
            "Read off one draw of NumPy's multivariate normal.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()

            def multivariate_normal(mu, sigma):
                factor = np.linalg.cholesky(sigma)
                return np.array(mu) + factor @ $rng.standard_normal(len(mu))

            covariance = $covariance
            $vec = multivariate_normal(mu=$mean, sigma=covariance)
            print($reading)
            """,
            "Mean plus Cholesky factor times standard normals.",
        ),
    ),
    "multivariate-t": (
        Recipe(
            """
            import numpy as np

            nu = $df
            loc = np.array($location)
            shape = $shape
            $rng = np.random.default_rng()
            # multivariate t: a multivariate normal over sqrt(chi-squared / nu)
            z = $rng.multivariate_normal(np.zeros(len(loc)), shape)
            $vec = loc + z / np.sqrt($rng.chisquare(nu) / nu)
            print($reading)
            """,
            "A multivariate normal over the root of a chi-squared over its degrees of freedom.",
        ),
        Recipe(
            """
            import math
            import random
            import numpy as np

            def multivariate_t(nu, mu, shape):
                factor = np.linalg.cholesky(shape)
                z = [random.gauss(0, 1) for _ in mu]
                chi_squared = random.gammavariate(nu / 2, 2)
                return np.array(mu) + factor @ z / math.sqrt(chi_squared / nu)

            scale_matrix = $shape
            $vec = multivariate_t(nu=$df, mu=$location, shape=scale_matrix)
            print($reading)
            """,
            "A multivariate normal over the root of a chi-squared over its degrees of freedom.",
        ),
    ),
    "negative-multinomial": (
        Recipe(
            """
            import random

            def negative_multinomial(stops, p):
                weights = [*p, 1 - sum(p)]
                counts = [0] * len(weights)
                while counts[-1] < stops:
                    counts[random.choices(range(len(weights)), weights)[0]] += 1
                return counts[:-1]

            $vec = negative_multinomial(stops=$stops, p=$probabilities)
            print($reading)
            """,
            "Trials until the remaining outcome came $stops times; the other counts are kept.",
            whole("stops"),
        ),
        Recipe(
            """
            import numpy as np

            stops, p = $stops, np.array($probabilities)
            $rng = np.random.default_rng()
            # a negative multinomial is independent Poissons sharing one gamma rate
            shared = $rng.gamma(stops, 1 / (1 - p.sum()))
            $vec = $rng.poisson(shared * p)
            print($reading)
            """,
            "Poissons with a shared Gamma($stops, 1 / p0) rate are negative multinomial.",
        ),
    ),
}

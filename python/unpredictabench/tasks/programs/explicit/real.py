"""Programs that name a law on the whole line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = {
    "gumbel": (
        Recipe(
            """
            import numpy as np

            mu, beta = $location, $scale
            $rng = np.random.default_rng()
            print($rng.gumbel(loc=mu, scale=beta))
            """,
            "NumPy's Gumbel generator (for maxima).",
        ),
        Recipe(
            """
            import math
            import random

            def gumbel(mu, beta):
                return mu - beta * math.log(-math.log(random.random()))

            print(gumbel(mu=$location, beta=$scale))
            """,
            "The inverse cdf of the Gumbel law for maxima.",
        ),
    ),
    "laplace": (
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            $out = $rng.laplace(loc=$location, scale=$scale)
            print($out)
            """,
            "NumPy's Laplace generator.",
        ),
        Recipe(
            """
            import random

            def laplace(mu, b):
                sign = random.choice((-1, 1))
                return mu + sign * random.expovariate(1 / b)

            print(laplace(mu=$location, b=$scale))
            """,
            "An exponential of mean $scale with a fair sign is Laplace.",
        ),
    ),
    "student-t": (
        Recipe(
            """
            import numpy as np

            nu = $df
            $rng = np.random.default_rng()
            print(${placed}$rng.standard_t(nu))
            """,
            "NumPy's Student t generator with $df degrees of freedom, shifted and scaled.",
        ),
        Recipe(
            """
            import math
            import random

            def student_t(nu):
                z = random.gauss(0, 1)
                chi_squared = random.gammavariate(nu / 2, 2)
                return z / math.sqrt(chi_squared / nu)

            print(${placed}student_t(nu=$df))
            """,
            "A normal over the root of a chi-squared over its degrees of freedom.",
        ),
    ),
    "logistic": (
        Recipe(
            """
            import numpy as np

            mu, s = $location, $scale
            $rng = np.random.default_rng()
            print($rng.logistic(mu, s))
            """,
            "NumPy's logistic generator.",
        ),
        Recipe(
            """
            import math
            import random

            def logistic(mu, s):
                $u = random.random()
                return mu + s * math.log($u / (1 - $u))

            print(logistic(mu=$location, s=$scale))
            """,
            "The inverse cdf of the logistic law.",
        ),
    ),
    "normal": (
        Recipe(
            """
            import numpy as np

            mu, sigma = $mean, $sd
            $rng = np.random.default_rng()
            print($rng.normal(mu, sigma))
            """,
            "NumPy's normal generator with mean $mean and standard deviation $sd.",
        ),
        Recipe(
            """
            import random

            $out = random.gauss(mu=$mean, sigma=$sd)
            print($out)
            """,
            "The standard library's normal generator.",
        ),
        Recipe(
            """
            from statistics import NormalDist

            normal = NormalDist(mu=$mean, sigma=$sd)
            [$out] = normal.samples(1)
            print($out)
            """,
            "One sample of the standard library's normal distribution.",
        ),
    ),
    "rectified-gaussian": (
        Recipe(
            """
            import numpy as np

            mu, sigma = $mean, $sd
            $rng = np.random.default_rng()
            rectified_gaussian = max(0.0, $rng.normal(mu, sigma))
            print(rectified_gaussian)
            """,
            "Negative draws of Normal($mean, $sd) become 0.",
        ),
        Recipe(
            """
            import random

            def rectified_gaussian(mu, sigma):
                $out = random.gauss(mu, sigma)
                return $out if $out > 0 else 0.0

            print(rectified_gaussian(mu=$mean, sigma=$sd))
            """,
            "Negative draws of Normal($mean, $sd) become 0.",
        ),
    ),
}

"""Programs that name a law on a half-line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, whole

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes


RECIPES: Recipes = {
    "erlang": (
        Recipe(
            """
            import numpy as np

            k, rate = $shape, $rate
            $rng = np.random.default_rng()
            # Erlang(k, rate): a gamma with whole shape k
            erlang = $rng.gamma(shape=k, scale=1 / rate)
            print(erlang)
            """,
            "A gamma with whole shape $shape and rate $rate is Erlang.",
        ),
        Recipe(
            """
            import random

            def erlang(k, rate):
                return sum(random.expovariate(rate) for _ in range(k))

            print(erlang(k=$shape, rate=$rate))
            """,
            "The sum of $shape independent exponentials of rate $rate.",
        ),
    ),
    "f": (
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            $out = $rng.f(dfnum=$df1, dfden=$df2)
            print($out)
            """,
            "NumPy's F generator.",
        ),
        Recipe(
            """
            import random

            def chi_squared(df):
                return random.gammavariate(df / 2, 2)

            d1, d2 = $df1, $df2
            f_statistic = (chi_squared(d1) / d1) / (chi_squared(d2) / d2)
            print(f_statistic)
            """,
            "The ratio of two independent mean chi-squareds is F($df1, $df2).",
        ),
    ),
    "gamma": (
        Recipe(
            """
            import numpy as np

            shape, scale = $shape, $scale
            $rng = np.random.default_rng()
            print($rng.gamma(shape, scale))
            """,
            "NumPy's gamma generator, shape then scale.",
        ),
        Recipe(
            """
            import random

            alpha = $shape
            theta = $scale
            $out = random.gammavariate(alpha, theta)
            print($out)
            """,
            "The standard library's gamma generator, whose second argument is the scale.",
        ),
    ),
    "pareto": (
        Recipe(
            """
            import random

            x_min, alpha = $minimum, $shape
            $out = x_min * random.paretovariate(alpha)
            print($out)
            """,
            "paretovariate is Pareto with minimum 1, here scaled to $minimum.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()

            def pareto(x_min, alpha):
                # NumPy's generator starts at 0, the classical law at x_min
                return x_min * (1 + $rng.pareto(alpha))

            print(pareto(x_min=$minimum, alpha=$shape))
            """,
            "NumPy's generator gives Pareto II from 0; adding 1 and scaling gives the classical.",
        ),
    ),
    "weibull": (
        Recipe(
            """
            import random

            $out = random.weibullvariate(alpha=$scale, beta=$shape)
            print($out)
            """,
            "In weibullvariate alpha is the scale and beta the shape.",
        ),
        Recipe(
            """
            import numpy as np

            shape, scale = $shape, $scale
            $rng = np.random.default_rng()
            print(scale * $rng.weibull(shape))
            """,
            "NumPy's Weibull generator has scale 1; multiplied by $scale.",
        ),
    ),
    "chi-squared": (
        Recipe(
            """
            import numpy as np

            df = $df
            $rng = np.random.default_rng()
            print($rng.chisquare(df))
            """,
            "NumPy's chi-squared generator.",
        ),
        Recipe(
            """
            import random

            def chi_squared(df):
                return random.gammavariate(df / 2, 2)

            print(chi_squared($df))
            """,
            "A gamma of shape df/2 and scale 2 is chi-squared.",
        ),
        Recipe(
            """
            import random

            degrees_of_freedom = $df
            chi_squared = sum(random.gauss(0, 1) ** 2 for _ in range(degrees_of_freedom))
            print(chi_squared)
            """,
            "A sum of $df squared standard normals.",
            whole("df"),
        ),
    ),
    "exponential": (
        Recipe(
            """
            import numpy as np

            rate = $rate
            $rng = np.random.default_rng()
            print($rng.exponential(scale=1 / rate))
            """,
            "NumPy's exponential generator with mean 1 / $rate.",
        ),
        Recipe(
            """
            import random

            $out = random.expovariate($rate)
            print($out)
            """,
            "The standard library's exponential generator, whose argument is the rate.",
        ),
    ),
    "inverse-gaussian": (
        Recipe(
            """
            import numpy as np

            mu, lam = $mean, $shape
            $rng = np.random.default_rng()
            # the Wald distribution is the inverse Gaussian
            inverse_gaussian = $rng.wald(mean=mu, scale=lam)
            print(inverse_gaussian)
            """,
            "NumPy's Wald generator is the inverse Gaussian with mean $mean and shape $shape.",
        ),
        Recipe(
            """
            import math
            import random

            def inverse_gaussian(mu, lam):
                y = mu * random.gauss(0, 1) ** 2
                x = 2 * mu * lam / (2 * lam + y + math.sqrt(y * (4 * lam + y)))
                return x if random.random() < mu / (mu + x) else mu * mu / x

            print(inverse_gaussian(mu=$mean, lam=$shape))
            """,
            "The transformation with two roots (Michael, Schucany and Haas 1976).",
        ),
    ),
    "log-normal": (
        Recipe(
            """
            import numpy as np

            mu, sigma = $log_mean, $log_sd
            $rng = np.random.default_rng()
            print($rng.lognormal(mu, sigma))
            """,
            "NumPy's log-normal generator; the arguments belong to the logarithm.",
        ),
        Recipe(
            """
            import random

            $out = random.lognormvariate(mu=$log_mean, sigma=$log_sd)
            print($out)
            """,
            "The standard library's log-normal generator; the arguments belong to the logarithm.",
        ),
    ),
    "frechet": (
        Recipe(
            """
            import math
            import random

            def frechet(alpha, s, m):
                return m + s * (-math.log(random.random())) ** (-1 / alpha)

            print(frechet(alpha=$shape, s=$scale, m=$location))
            """,
            "The inverse cdf of the Fréchet law.",
        ),
        Recipe(
            """
            import numpy as np

            alpha, s, m = $shape, $scale, $location
            $rng = np.random.default_rng()
            # one over a Weibull draw is a Frechet draw
            frechet = m + s / $rng.weibull(alpha)
            print(frechet)
            """,
            "The reciprocal of a unit Weibull of the same shape is Fréchet.",
        ),
    ),
}

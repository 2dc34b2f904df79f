"""Programs that name a law on an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = {
    "beta": (
        Recipe(
            """
            import numpy as np

            alpha, beta = $alpha, $beta
            $rng = np.random.default_rng()
            print($rng.beta(alpha, beta))
            """,
            "NumPy's beta generator with shapes $alpha and $beta.",
        ),
        Recipe(
            """
            import random

            alpha = $alpha
            beta = $beta
            $out = random.betavariate(alpha, beta)
            print($out)
            """,
            "The standard library's beta generator with shapes $alpha and $beta.",
        ),
    ),
    "triangular": (
        Recipe(
            """
            import numpy as np

            left, mode, right = $low, $mode, $high
            $rng = np.random.default_rng()
            print($rng.triangular(left, mode, right))
            """,
            "NumPy's triangular generator on [$low, $high] with mode $mode.",
        ),
        Recipe(
            """
            import random

            low = $low
            high = $high
            mode = $mode
            $out = random.triangular(low, high, mode)
            print($out)
            """,
            "The standard library's triangular generator, whose third argument is the mode.",
        ),
    ),
    "truncated-normal": (
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()

            def truncated_normal(mu, sigma, low, high):
                while True:
                    $out = $rng.normal(mu, sigma)
                    if low <= $out <= high:
                        return $out

            print(truncated_normal(mu=$mean, sigma=$sd, low=$low, high=$high))
            """,
            "Normal($mean, $sd) conditioned to [$low, $high] by rejection.",
        ),
        Recipe(
            """
            import random
            from statistics import NormalDist

            low, high = $low, $high
            normal = NormalDist(mu=$mean, sigma=$sd)
            $u = random.uniform(normal.cdf(low), normal.cdf(high))
            truncated_normal = normal.inv_cdf($u)
            print(truncated_normal)
            """,
            "The quantile of Normal($mean, $sd) at a uniform level between those of the bounds.",
        ),
    ),
    "uniform": (
        Recipe(
            """
            import numpy as np

            low, high = $low, $high
            $rng = np.random.default_rng()
            print($rng.uniform(low, high))
            """,
            "NumPy's uniform generator on [$low, $high).",
        ),
        Recipe(
            """
            import random

            $out = random.uniform($low, $high)
            print($out)
            """,
            "The standard library's uniform generator between $low and $high.",
        ),
    ),
    "reciprocal": (
        Recipe(
            """
            import math
            import random

            low, high = $low, $high
            log_uniform = math.exp(random.uniform(math.log(low), math.log(high)))
            print(log_uniform)
            """,
            "The logarithm is uniform, so the value is log-uniform between $low and $high.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()

            def reciprocal(low, high):
                # density proportional to 1 / x on [low, high]
                return low * (high / low) ** $rng.random()

            print(reciprocal(low=$low, high=$high))
            """,
            "The inverse cdf of the law with density proportional to 1/x.",
        ),
    ),
    "arcsine": (
        Recipe(
            """
            import math
            import random

            def arcsine(low, high):
                $u = random.random()
                return low + (high - low) * math.sin(math.pi * $u / 2) ** 2

            print(arcsine($low, $high))
            """,
            "The inverse cdf of the arcsine law on [$low, $high].",
        ),
        Recipe(
            """
            import numpy as np

            low, high = $low, $high
            $rng = np.random.default_rng()
            # the arcsine distribution is Beta(1/2, 1/2)
            arcsine = low + (high - low) * $rng.beta(0.5, 0.5)
            print(arcsine)
            """,
            "Beta(1/2, 1/2) is the arcsine law on [0, 1], moved to [$low, $high].",
        ),
    ),
}

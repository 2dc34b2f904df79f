"""Programs that build a vector of a joint law without naming it and print one number of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, whole

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Params, Recipes

MOST_CUTS = 2000  # spacings of more uniforms are too slow to print once


def are_spacings(params: Params) -> bool:
    """Tell whether the law is that of sums of spacings of uniforms."""
    parts = params["concentration"]
    return all(float(part).is_integer() for part in parts) and sum(parts) <= MOST_CUTS


RECIPES: Recipes = {
    "dirichlet": (
        Recipe(
            """
            import random

            weights = $concentration
            sizes = [random.gammavariate(w, 1) for w in weights]
            $vec = [size / sum(sizes) for size in sizes]
            print($reading)
            """,
            "Independent gammas over their sum are Dirichlet.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            sizes = $rng.standard_gamma($concentration)
            $vec = sizes / sizes.sum()
            print($reading)
            """,
            "Independent gammas over their sum are Dirichlet.",
        ),
        Recipe(
            """
            import itertools
            import random

            widths = $concentration
            marks = sorted(random.random() for _ in range(sum(widths) - 1))
            cuts = [marks[k - 1] for k in itertools.accumulate(widths[:-1])]
            edges = [0.0, *cuts, 1.0]
            $vec = [b - a for a, b in zip(edges, edges[1:])]
            print($reading)
            """,
            "Grouped spacings of sorted uniforms are Dirichlet.",
            are_spacings,
        ),
    ),
    "multinomial": (
        Recipe(
            """
            import random

            weights = $probabilities
            $vec = [0] * len(weights)
            for pick in random.choices(range(len(weights)), weights, k=$trials):
                $vec[pick] += 1
            print($reading)
            """,
            "Counts of $trials independent categories.",
        ),
        Recipe(
            """
            import random

            shares = $probabilities
            $vec = [0] * len(shares)
            for _ in range($trials):
                point, box = random.random() * sum(shares), 0
                while box < len(shares) - 1 and point >= shares[box]:
                    point -= shares[box]
                    box += 1
                $vec[box] += 1
            print($reading)
            """,
            "Counts of $trials independent points on a line of segments.",
        ),
    ),
    "multivariate-normal": (
        Recipe(
            """
            import numpy as np

            center = np.array($mean)
            table = $covariance
            factor = np.linalg.cholesky(table)
            $rng = np.random.default_rng()
            $vec = center + factor @ $rng.standard_normal(len(center))
            print($reading)
            """,
            "Mean plus Cholesky factor times standard normals.",
        ),
        Recipe(
            """
            import random
            import numpy as np

            center = $mean
            table = $covariance
            spread, axes = np.linalg.eigh(table)
            steps = [s ** 0.5 * random.gauss(0, 1) for s in spread]
            $vec = axes @ steps + center
            print($reading)
            """,
            "Mean plus independent normals along the principal axes.",
        ),
    ),
    "multivariate-t": (
        Recipe(
            """
            import math
            import random
            import numpy as np

            df = $df
            center = np.array($location)
            table = $shape
            factor = np.linalg.cholesky(table)
            z = factor @ [random.gauss(0, 1) for _ in center]
            shared = random.gammavariate(df / 2, 2 / df)
            $vec = center + z / math.sqrt(shared)
            print($reading)
            """,
            "Correlated normals over the root of a shared chi-squared over its degrees of freedom.",
        ),
        Recipe(
            """
            import numpy as np

            k = $df
            center = np.array($location)
            $rng = np.random.default_rng()
            table = $shape
            spread, axes = np.linalg.eigh(table)
            z = axes @ (np.sqrt(spread) * $rng.standard_normal(len(center)))
            $vec = center + z * np.sqrt(k / (2 * $rng.standard_gamma(k / 2)))
            print($reading)
            """,
            "Correlated normals over the root of a shared chi-squared over its degrees of freedom.",
        ),
    ),
    "negative-multinomial": (
        Recipe(
            """
            import random

            chances = $probabilities
            $vec = [0] * len(chances)
            ends = 0
            while ends < $stops:
                point, box = random.random(), 0
                while box < len(chances) and point >= chances[box]:
                    point -= chances[box]
                    box += 1
                if box == len(chances):
                    ends += 1
                else:
                    $vec[box] += 1
            print($reading)
            """,
            "Trials until the remaining outcome came $stops times; the other counts are kept.",
            whole("stops"),
        ),
        Recipe(
            """
            import random

            chances = $probabilities
            faces = [*range(len(chances)), "stop"]
            weights = [*chances, 1 - sum(chances)]
            $vec = [0] * len(chances)
            stops = 0
            while stops < $stops:
                face = random.choices(faces, weights)[0]
                if face == "stop":
                    stops += 1
                else:
                    $vec[face] += 1
            print($reading)
            """,
            "Trials until the remaining outcome came $stops times; the other counts are kept.",
            whole("stops"),
        ),
    ),
}

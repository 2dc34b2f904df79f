"""Programs that build a law on an interval without naming it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, whole

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Params, Recipes

MOST_TOSSES = 2000  # an order statistic of more uniforms is too slow to print once


def are_small(params: Params) -> bool:
    """Tell whether rejection from powers of uniforms is quick."""
    return bool(max(params["alpha"], params["beta"]) <= 1.5)


def are_ranks(params: Params) -> bool:
    """Tell whether the law is that of an order statistic of uniforms."""
    alpha, beta = params["alpha"], params["beta"]
    return whole("alpha", "beta")(params) and alpha + beta <= MOST_TOSSES


RECIPES: Recipes = {
    "beta": (
        Recipe(
            """
            import random

            left = random.gammavariate($alpha, 1)
            right = random.gammavariate($beta, 1)
            print(left / (left + right))
            """,
            "The share of one of two independent gammas of the same scale is beta.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            mine, yours = $rng.standard_gamma([$alpha, $beta])
            share = mine / (mine + yours)
            print(share)
            """,
            "The share of one of two independent gammas of the same scale is beta.",
        ),
        Recipe(
            """
            import random

            below, above = $alpha - 1, $beta - 1
            marks = sorted(random.random() for _ in range(below + above + 1))
            print(marks[below])
            """,
            "The order statistic number $alpha of $alpha + $beta - 1 uniforms is beta.",
            are_ranks,
        ),
        Recipe(
            """
            import random

            while True:
                x = random.random() ** (1 / $alpha)
                y = random.random() ** (1 / $beta)
                if 0 < x + y <= 1:
                    break
            print(x / (x + y))
            """,
            "Jöhnk's acceptance of powers of uniforms gives a beta.",
            are_small,
        ),
    ),
    "triangular": (
        Recipe(
            """
            import math
            import random

            left, peak, right = $low, $mode, $high
            $u = random.random()
            if $u * (right - left) < peak - left:
                $out = left + math.sqrt($u * (right - left) * (peak - left))
            else:
                $out = right - math.sqrt((1 - $u) * (right - left) * (right - peak))
            print($out)
            """,
            "The inverse cdf of the triangular law.",
        ),
        Recipe(
            """
            import random

            start, end, peak = $low, $high, $mode
            lean = (peak - start) / (end - start)
            near, far = sorted([random.random(), random.random()])
            print(start + (end - start) * ((1 - lean) * near + lean * far))
            """,
            "A mix of the smaller and larger of two uniforms, weighted by the mode, is triangular.",
        ),
        Recipe(
            """
            import random

            a, c, b = $low, $mode, $high
            while True:
                x = a + (b - a) * random.random()
                height = (x - a) / (c - a) if x < c else (b - x) / (b - c)
                if random.random() < height:
                    break
            print(x)
            """,
            "Rejection under a tent with peak at $mode.",
            lambda params: params["low"] < params["mode"] < params["high"],
        ),
    ),
    "truncated-normal": (
        Recipe(
            """
            import random

            center, spread = $mean, $sd
            while True:
                $out = random.gauss(center, spread)
                if $low <= $out <= $high:
                    break
            print($out)
            """,
            "Normal draws are repeated until one lies within the bounds.",
        ),
        Recipe(
            """
            import math
            import random

            lower, upper = $low, $high
            while True:
                x = lower + (upper - lower) * random.random()
                z = (x - $mean) / $sd
                if random.random() < math.exp(-z * z / 2):
                    break
            print(x)
            """,
            "Rejection with the normal's kernel from a uniform on the bounds.",
        ),
    ),
    "uniform": (
        Recipe(
            """
            import random

            low, high = $low, $high
            $out = low + (high - low) * random.random()
            print($out)
            """,
            "A stretched random() is uniform between $low and $high.",
        ),
        Recipe(
            """
            import random

            left, right = $low, $high
            fraction = 0.0
            for place in range(1, 54):
                if random.getrandbits(1):
                    fraction += 0.5 ** place
            print(left + (right - left) * fraction)
            """,
            "Fair binary digits make a uniform fraction.",
        ),
        Recipe(
            """
            import math
            import random

            start, end = $low, $high
            angle = math.atan2(random.gauss(0, 1), random.gauss(0, 1))
            turn = 0.5 + angle / (2 * math.pi)
            print(start + (end - start) * turn)
            """,
            "The direction of a circular normal pair is uniform around the circle.",
        ),
    ),
    "reciprocal": (
        Recipe(
            """
            import random

            low, high = $low, $high
            print(low * (high / low) ** random.random())
            """,
            "The logarithm is uniform between those of $low and $high.",
        ),
        Recipe(
            """
            import math
            import random

            bottom, top = math.log10($low), math.log10($high)
            exponent = bottom + (top - bottom) * random.random()
            print(10 ** exponent)
            """,
            "The decimal logarithm is uniform between those of $low and $high.",
        ),
    ),
    "arcsine": (
        Recipe(
            """
            import math
            import random

            left, right = $low, $high
            angle = math.pi * random.random()
            print(left + (right - left) * (1 - math.cos(angle)) / 2)
            """,
            "The projection of a uniform angle on the diameter follows the arcsine law.",
        ),
        Recipe(
            """
            import random

            low, high = $low, $high
            x, y = random.gauss(0, 1), random.gauss(0, 1)
            share = x * x / (x * x + y * y)
            print(low + (high - low) * share)
            """,
            "The squared cosine of a uniform angle follows the arcsine law.",
        ),
    ),
}

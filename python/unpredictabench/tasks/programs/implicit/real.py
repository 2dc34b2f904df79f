"""Programs that build a law on the whole line without naming it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, whole

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = {
    "gumbel": (
        Recipe(
            """
            import math
            import random

            base, spread = $location, $scale
            $u = random.random()
            print(base - spread * math.log(-math.log($u)))
            """,
            "The inverse cdf of the Gumbel law.",
        ),
        Recipe(
            """
            import math
            import random

            wait = random.expovariate(1)
            $out = $location - $scale * math.log(wait)
            print($out)
            """,
            "Minus the logarithm of a unit exponential is Gumbel.",
        ),
    ),
    "laplace": (
        Recipe(
            """
            import random

            center, width = $location, $scale
            forward = random.expovariate(1)
            backward = random.expovariate(1)
            print(center + width * (forward - backward))
            """,
            "The difference of two unit exponentials is Laplace.",
        ),
        Recipe(
            """
            import math
            import random

            size = -$scale * math.log(1 - random.random())
            if random.random() < 0.5:
                size = -size
            print($location + size)
            """,
            "An exponential size with a fair sign is Laplace.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            a, b, c, d = $rng.standard_normal(4)
            print($location + $scale * (a * b + c * d))
            """,
            "a*b + c*d of standard normals is Laplace with scale 1 (a 2 x 2 determinant).",
        ),
    ),
    "student-t": (
        Recipe(
            """
            import math
            import random

            df = $df
            z = random.gauss(0, 1)
            energy = random.gammavariate(df / 2, 2)
            print(${placed}z / math.sqrt(energy / df))
            """,
            "A normal over the root of a chi-squared over its degrees of freedom.",
        ),
        Recipe(
            """
            import math
            import random

            k = $df
            while True:
                x = 2 * random.random() - 1
                y = 2 * random.random() - 1
                w = x * x + y * y
                if 0 < w <= 1:
                    break
            $out = x * math.sqrt(k * (w ** (-2 / k) - 1) / w)
            print(${placed}$out)
            """,
            "Bailey's polar method gives Student's t.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            top, *rest = $rng.standard_normal(1 + $df)
            noise = np.sqrt(np.mean(np.square(rest)))
            print(${placed}top / noise)
            """,
            "A normal over the root mean square of $df others is Student's t.",
            whole("df"),
        ),
    ),
    "logistic": (
        Recipe(
            """
            import math
            import random

            center, stretch = $location, $scale
            $u = random.random()
            print(center + stretch * math.log($u / (1 - $u)))
            """,
            "The log-odds of a uniform are logistic.",
        ),
        Recipe(
            """
            import math
            import random

            first = random.expovariate(1)
            last = random.expovariate(1)
            print($location + $scale * math.log(first / last))
            """,
            "The logarithm of the ratio of two exponentials is logistic.",
        ),
    ),
    "normal": (
        Recipe(
            """
            import math
            import random

            radius = math.sqrt(-2 * math.log(1 - random.random()))
            angle = 2 * math.pi * random.random()
            print($mean + $sd * radius * math.cos(angle))
            """,
            "Box and Muller's transformation of two uniforms.",
        ),
        Recipe(
            """
            import math
            import random

            center, spread = $mean, $sd
            while True:
                x = 2 * random.random() - 1
                y = 2 * random.random() - 1
                s = x * x + y * y
                if 0 < s < 1:
                    break
            print(center + spread * x * math.sqrt(-2 * math.log(s) / s))
            """,
            "Marsaglia's polar method.",
        ),
        Recipe(
            """
            import math
            import random

            while True:
                u = 1 - random.random()
                v = 1.7155277699214135 * (random.random() - 0.5)
                x = v / u
                if x * x <= -4 * math.log(u):
                    break
            print($mean + $sd * x)
            """,
            "The ratio of uniforms; the factor is sqrt(8 / e).",
        ),
    ),
    "rectified-gaussian": (
        Recipe(
            """
            import random

            level = random.normalvariate($mean, $sd)
            print(level if level > 0 else 0.0)
            """,
            "Negative draws of Normal($mean, $sd) become 0.",
        ),
        Recipe(
            """
            import numpy as np

            base, noise = $mean, $sd
            $rng = np.random.default_rng()
            signal = base + noise * $rng.standard_normal()
            print(max(0.0, signal))
            """,
            "Negative draws of Normal($mean, $sd) become 0.",
        ),
    ),
}

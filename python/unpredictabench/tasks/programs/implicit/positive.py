"""Programs that build a law on a half-line without naming it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, whole

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = {
    "erlang": (
        Recipe(
            """
            import random

            stages, rate = $shape, $rate
            $total = 0.0
            for _ in range(stages):
                $total += random.expovariate(rate)
            print($total)
            """,
            "The sum of $shape exponentials of rate $rate is Erlang.",
        ),
        Recipe(
            """
            import math
            import random

            product = math.prod(1 - random.random() for _ in range($shape))
            print(-math.log(product) / $rate)
            """,
            "Minus the logarithm of a product of $shape uniforms, over the rate, is Erlang.",
        ),
    ),
    "f": (
        Recipe(
            """
            import random

            a, b = $df1, $df2
            top = random.gammavariate(a / 2, 2 / a)
            bottom = random.gammavariate(b / 2, 2 / b)
            print(top / bottom)
            """,
            "Each gamma is a chi-squared over its degrees of freedom; the ratio is F.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            upper, lower = $rng.standard_gamma([$df1 / 2, $df2 / 2])
            print((upper / $df1) / (lower / $df2))
            """,
            "Half chi-squareds over their degrees of freedom; the ratio is F.",
        ),
        Recipe(
            """
            import random

            def mean_square(n):
                return sum(random.gauss(0, 1) ** 2 for _ in range(n)) / n

            print(mean_square($df1) / mean_square($df2))
            """,
            "The ratio of mean squares of $df1 and $df2 standard normals is F.",
            whole("df1", "df2"),
        ),
    ),
    "gamma": (
        Recipe(
            """
            import math
            import random

            shape, scale = $shape, $scale
            stages = int(shape)
            part = shape - stages
            $total = sum(random.expovariate(1) for _ in range(stages))
            while part > 0:
                x = random.random() ** (1 / part)
                y = random.random() ** (1 / (1 - part))
                if 0 < x + y <= 1:
                    $total += random.expovariate(1) * x / (x + y)
                    break
            print(scale * $total)
            """,
            "Unit exponentials for the whole part, and Jöhnk's share of one for the rest.",
        ),
        Recipe(
            """
            import math
            import random

            k, scale = $shape, $scale
            d = (k if k >= 1 else k + 1) - 1 / 3
            while True:
                z = random.gauss(0, 1)
                v = (1 + z / math.sqrt(9 * d)) ** 3
                u = 1 - random.random()
                if v > 0 and math.log(u) < z * z / 2 + d * (1 - v + math.log(v)):
                    break
            $out = scale * d * v
            if k < 1:
                $out *= random.random() ** (1 / k)
            print($out)
            """,
            "Marsaglia and Tsang's acceptance method, with the power of a uniform below shape 1.",
        ),
    ),
    "pareto": (
        Recipe(
            """
            import random

            floor, power = $minimum, $shape
            print(floor * (1 - random.random()) ** (-1 / power))
            """,
            "The inverse survival function (x / $minimum)^-$shape.",
        ),
        Recipe(
            """
            import math
            import random

            start = $minimum
            growth = random.expovariate($shape)
            print(start * math.exp(growth))
            """,
            "Exponential growth for an exponential time is Pareto.",
        ),
    ),
    "weibull": (
        Recipe(
            """
            import math
            import random

            scale, power = $scale, $shape
            $u = 1 - random.random()
            print(scale * (-math.log($u)) ** (1 / power))
            """,
            "The inverse survival function exp(-(x / $scale)^$shape).",
        ),
        Recipe(
            """
            import random

            stress = random.expovariate(1)
            print($scale * stress ** (1 / $shape))
            """,
            "A power of a unit exponential is Weibull.",
        ),
    ),
    "chi-squared": (
        Recipe(
            """
            import random

            $total = 0.0
            for _ in range($df):
                $total += random.gauss(0, 1) ** 2
            print($total)
            """,
            "The sum of $df squared standard normals.",
            whole("df"),
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            errors = $rng.standard_normal($df)
            print(np.sum(errors ** 2))
            """,
            "The sum of $df squared standard normals.",
            whole("df"),
        ),
        Recipe(
            """
            import math
            import random

            pairs, single = divmod($df, 2)
            energy = -2 * sum(math.log(1 - random.random()) for _ in range(pairs))
            if single:
                energy += random.gauss(0, 1) ** 2
            print(energy)
            """,
            "Each pair of squared normals is an exponential of mean 2.",
            lambda params: whole("df")(params) and params["df"] >= 4,
        ),
        Recipe(
            """
            import random

            half = $df / 2
            print(random.gammavariate(half, 2))
            """,
            "A gamma of shape $df / 2 and scale 2 is chi-squared.",
            lambda params: not whole("df")(params),
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            print(2 * $rng.standard_gamma($df / 2))
            """,
            "Twice a standard gamma of shape $df / 2 is chi-squared.",
            lambda params: not whole("df")(params),
        ),
    ),
    "exponential": (
        Recipe(
            """
            import math
            import random

            rate = $rate
            print(-math.log(1 - random.random()) / rate)
            """,
            "The inverse survival function exp(-$rate x).",
        ),
        Recipe(
            """
            import random

            whole = 0
            while True:
                first = last = random.random()
                length = 1
                while (step := random.random()) < last:
                    last = step
                    length += 1
                if length % 2 == 1:
                    break
                whole += 1
            print((whole + first) / $rate)
            """,
            "Von Neumann's comparison of uniforms gives a unit exponential.",
        ),
        Recipe(
            """
            import random

            x, y = random.gauss(0, 1), random.gauss(0, 1)
            print((x * x + y * y) / (2 * $rate))
            """,
            "Half the squared length of a normal pair is a unit exponential.",
        ),
    ),
    "inverse-gaussian": (
        Recipe(
            """
            import math
            import random

            level, stiffness = $mean, $shape
            y = level * random.normalvariate(0, 1) ** 2
            x = 2 * level * stiffness / (2 * stiffness + y + math.sqrt(y * (4 * stiffness + y)))
            if random.random() * (level + x) > level:
                x = level ** 2 / x
            print(x)
            """,
            "The transformation with two roots: mean $mean, shape $shape.",
        ),
        Recipe(
            """
            import numpy as np

            mean, k = $mean, $shape
            $rng = np.random.default_rng()
            w = mean * $rng.standard_normal() ** 2 / (2 * k)
            large = mean * (1 + w + np.sqrt(w * (w + 2)))
            small = mean * mean / large
            if $rng.random() < mean / (mean + small):
                print(small)
            else:
                print(large)
            """,
            "The transformation with two roots: mean $mean, shape $shape.",
        ),
    ),
    "log-normal": (
        Recipe(
            """
            import math
            import random

            exponent = random.gauss($log_mean, $log_sd)
            print(math.exp(exponent))
            """,
            "The exponential of a normal.",
        ),
        Recipe(
            """
            import math
            import random

            radius = math.sqrt(-2 * math.log(1 - random.random()))
            z = radius * math.sin(2 * math.pi * random.random())
            print(math.exp($log_mean + $log_sd * z))
            """,
            "The exponential of a normal made by Box and Muller's transformation.",
        ),
        Recipe(
            """
            import math
            import random

            price = math.exp($log_mean)
            days = 16
            for _ in range(days):
                price *= math.exp($log_sd * random.gauss(0, 1) / math.sqrt(days))
            print(price)
            """,
            "Sixteen independent normal log-changes add up to one of standard deviation $log_sd.",
        ),
    ),
    "frechet": (
        Recipe(
            """
            import math
            import random

            floor, scale, power = $location, $scale, $shape
            $u = random.random()
            print(floor + scale * (-math.log($u)) ** (-1 / power))
            """,
            "The inverse cdf of the Fréchet law.",
        ),
        Recipe(
            """
            import random

            wait = random.expovariate(1)
            print($location + $scale / wait ** (1 / $shape))
            """,
            "A negative power of a unit exponential is Fréchet.",
        ),
    ),
}

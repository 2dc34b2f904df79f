"""Programs that build a law with a random scale, place or number of terms without naming it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, component

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = {
    "rayleigh-mixture": (
        Recipe(
            """
            import math
            import random

            r = $scale * math.hypot(random.gauss(0, 1), random.gauss(0, 1))
            print(random.gauss($center, $sd))
            """,
            "r is the length of a normal pair (Rayleigh); the value is normal around $center.",
            component("normal-location"),
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            r = $scale * np.sqrt(-2 * np.log(1 - $rng.random()))
            noise = $sd * $rng.standard_normal()
            print($center + noise)
            """,
            "r is Rayleigh by its inverse cdf; the value is normal around $center.",
            component("normal-location"),
        ),
        Recipe(
            """
            import math
            import random

            r = $scale * math.hypot(random.gauss(0, 1), random.gauss(0, 1))
            print(r * random.gauss(0, 1))
            """,
            "r is the length of a normal pair (Rayleigh); the value is Normal(0, r).",
            component("normal-scale"),
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            spread = $scale * np.sqrt(-2 * np.log(1 - $rng.random()))
            print(spread * $rng.standard_normal())
            """,
            "spread is Rayleigh by its inverse cdf; the value is Normal(0, spread).",
            component("normal-scale"),
        ),
        Recipe(
            """
            import math
            import random

            r = $scale * math.hypot(random.gauss(0, 1), random.gauss(0, 1))
            print(random.gammavariate($shape, r / $divisor))
            """,
            "r is the length of a normal pair (Rayleigh), the value a gamma of scale r/$divisor.",
            component("gamma"),
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            r = $scale * np.sqrt(-2 * np.log(1 - $rng.random()))
            print($rng.standard_gamma($shape) * r / $divisor)
            """,
            "r is Rayleigh by its inverse cdf; the value is a gamma of scale r/$divisor.",
            component("gamma"),
        ),
    ),
    "compound-poisson": (
        Recipe(
            """
            import random

            $total = 0
            clock = random.expovariate($rate)
            while clock < 1:
                $total += $plain_jump
                clock += random.expovariate($rate)
            print($total)
            """,
            "Jumps arrive at rate $rate within one unit of time and are summed; none gives 0.",
        ),
        Recipe(
            """
            import math
            import random

            $total = 0
            bound, product = math.exp(-$rate), random.random()
            while product > bound:
                $total += $plain_jump
                product *= random.random()
            print($total)
            """,
            "Knuth's product of uniforms decides the number of jumps, of mean $rate; none gives 0.",
        ),
    ),
}

"""Programs that name a law whose scale, place or number of terms is itself random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, component

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Recipes

RECIPES: Recipes = {
    "rayleigh-mixture": (
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            # a normal whose mean is set by a Rayleigh draw
            r = $rng.rayleigh(scale=$scale)
            $out = $rng.normal(loc=$center, scale=$sd)
            print($out)
            """,
            "Given the Rayleigh draw r, the value is normal around $center.",
            component("normal-location"),
        ),
        Recipe(
            """
            import math
            import random

            def rayleigh(sigma):
                return sigma * math.sqrt(-2 * math.log(1 - random.random()))

            r = rayleigh($scale)
            rayleigh_mixture = random.gauss($center, $sd)
            print(rayleigh_mixture)
            """,
            "Given the Rayleigh draw r, the value is normal around $center.",
            component("normal-location"),
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            # a normal whose standard deviation is a Rayleigh draw
            r = $rng.rayleigh(scale=$scale)
            print($rng.normal(loc=0.0, scale=r))
            """,
            "Given the Rayleigh draw r, the value is Normal(0, r).",
            component("normal-scale"),
        ),
        Recipe(
            """
            import math
            import random

            def rayleigh(sigma):
                return sigma * math.sqrt(-2 * math.log(1 - random.random()))

            rayleigh_mixture = random.gauss(0.0, rayleigh($scale))
            print(rayleigh_mixture)
            """,
            "Given the Rayleigh draw r, the value is Normal(0, r).",
            component("normal-scale"),
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            # a gamma whose scale is set by a Rayleigh draw
            r = $rng.rayleigh(scale=$scale)
            print($rng.gamma(shape=$shape, scale=r / $divisor))
            """,
            "Given the Rayleigh draw r, the value is Gamma($shape, scale r / $divisor).",
            component("gamma"),
        ),
        Recipe(
            """
            import math
            import random

            def rayleigh(sigma):
                return sigma * math.sqrt(-2 * math.log(1 - random.random()))

            rayleigh_mixture = random.gammavariate($shape, rayleigh($scale) / $divisor)
            print(rayleigh_mixture)
            """,
            "Given the Rayleigh draw r, the value is Gamma($shape, scale r / $divisor).",
            component("gamma"),
        ),
    ),
    "compound-poisson": (
        Recipe(
            """
            import numpy as np

            rng = np.random.default_rng()
            jumps = rng.poisson($rate)
            compound_poisson = sum($numpy_jump for _ in range(jumps))
            print(compound_poisson)
            """,
            "A Poisson($rate) number of independent jumps, summed; no jumps give 0.",
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

            compound_poisson = 0
            for _ in range(poisson($rate)):
                compound_poisson += $plain_jump
            print(compound_poisson)
            """,
            "A Poisson($rate) number of independent jumps, summed; no jumps give 0.",
        ),
    ),
}

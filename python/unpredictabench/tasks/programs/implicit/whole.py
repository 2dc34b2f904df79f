"""Programs that build a law of whole numbers without naming it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.tasks.programs.recipes import Recipe, whole

if TYPE_CHECKING:
    from unpredictabench.tasks.programs.recipes import Params, Recipes


def is_fair(params: Params) -> bool:
    """Tell whether a fair coin decides."""
    return bool(params["probability"] == 0.5)


def is_percent(params: Params) -> bool:
    """Tell whether the probability is a whole number of thousandths."""
    return (1000.0 * float(params["probability"])).is_integer()


RECIPES: Recipes = {
    "bernoulli": (
        Recipe(
            """
            import random

            chance = $probability
            print(1 if random.random() < chance else 0)
            """,
            "1 with probability $probability, otherwise 0.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            lamp = 0
            if $rng.random() >= 1 - $probability:
                lamp = 1
            print(lamp)
            """,
            "1 with probability $probability, otherwise 0.",
        ),
        Recipe(
            """
            import random

            tickets = list(range(1000))
            winners = tickets[:round(1000 * $probability)]
            print(int(random.choice(tickets) in winners))
            """,
            "A ticket of 1000, of which a share of $probability wins.",
            is_percent,
        ),
        Recipe(
            """
            import random

            coin = random.getrandbits(1)
            print(coin)
            """,
            "One fair bit.",
            is_fair,
        ),
    ),
    "poisson-binomial": (
        Recipe(
            """
            import random

            chances = $probabilities
            $count = 0
            for chance in chances:
                if random.random() < chance:
                    $count += 1
            print($count)
            """,
            "The number of successes in independent trials with these probabilities.",
        ),
        Recipe(
            """
            import numpy as np

            chances = np.array($probabilities)
            $rng = np.random.default_rng()
            print(np.count_nonzero($rng.random(chances.size) < chances))
            """,
            "The number of successes in independent trials with these probabilities.",
        ),
    ),
    "beta-binomial": (
        Recipe(
            """
            import random

            red, black = $alpha, $beta
            $count = 0
            for _ in range($trials):
                if random.random() < red / (red + black):
                    red += 1
                    $count += 1
                else:
                    black += 1
            print($count)
            """,
            "Pólya's urn: the number of red draws is beta-binomial.",
        ),
        Recipe(
            """
            import random

            left = random.gammavariate($alpha, 1)
            right = random.gammavariate($beta, 1)
            chance = left / (left + right)
            print(sum(random.random() < chance for _ in range($trials)))
            """,
            "The success probability is a beta made of two gammas.",
        ),
    ),
    "binomial": (
        Recipe(
            """
            import random

            $count = 0
            for _ in range($trials):
                if random.random() < $probability:
                    $count += 1
            print($count)
            """,
            "The number of successes in $trials independent trials.",
        ),
        Recipe(
            """
            import numpy as np

            $rng = np.random.default_rng()
            flips = $rng.random($trials) < $probability
            print(np.count_nonzero(flips))
            """,
            "The number of successes in $trials independent trials.",
        ),
        Recipe(
            """
            import random

            bits = random.getrandbits($trials)
            print(bin(bits).count("1"))
            """,
            "The number of ones among $trials fair bits.",
            is_fair,
        ),
    ),
    "discrete-uniform": (
        Recipe(
            """
            import random

            low, high = $low, $high
            print(low + int(random.random() * (high - low + 1)))
            """,
            "Every whole number from $low to $high is equally likely.",
        ),
        Recipe(
            """
            import random

            first, last = $low, $high
            size = last - first + 1
            while True:
                index = random.getrandbits(size.bit_length())
                if index < size:
                    break
            print(first + index)
            """,
            "Fair bits are redrawn until they name one of the numbers from $low to $high.",
        ),
    ),
    "hypergeometric": (
        Recipe(
            """
            import random

            items, special = $population, $successes
            $count = 0
            for _ in range($draws):
                if random.random() * items < special:
                    $count += 1
                    special -= 1
                items -= 1
            print($count)
            """,
            "Special items among $draws taken one by one without replacement.",
        ),
        Recipe(
            """
            import random

            shelf = ["good"] * $others + ["flawed"] * $successes
            random.shuffle(shelf)
            print(shelf[:$draws].count("flawed"))
            """,
            "Flawed items among the first $draws of a shuffled shelf.",
        ),
    ),
    "poisson": (
        Recipe(
            """
            import random

            rate = $rate
            clock, $count = random.expovariate(rate), 0
            while clock < 1:
                $count += 1
                clock += random.expovariate(rate)
            print($count)
            """,
            "Arrivals of rate $rate within one unit of time.",
        ),
        Recipe(
            """
            import math
            import random

            bound, product, $count = math.exp(-$rate), 1.0, -1
            while product > bound:
                product *= random.random()
                $count += 1
            print($count)
            """,
            "Knuth's product of uniforms with mean $rate.",
        ),
    ),
    "skellam": (
        Recipe(
            """
            import random

            def arrivals(rate):
                clock, $count = random.expovariate(rate), 0
                while clock < 1:
                    $count += 1
                    clock += random.expovariate(rate)
                return $count

            print(arrivals($rate1) - arrivals($rate2))
            """,
            "The difference of arrivals of two independent streams in one unit of time.",
        ),
        Recipe(
            """
            import random

            up, down = $rate1, $rate2
            position = 0
            clock = random.expovariate(up + down)
            while clock < 1:
                position += 1 if random.random() * (up + down) < up else -1
                clock += random.expovariate(up + down)
            print(position)
            """,
            "A walk for unit time, with up-steps of rate $rate1 and down-steps of rate $rate2.",
        ),
    ),
    "geometric": (
        Recipe(
            """
            import random

            tries = $start
            while random.random() >= $probability:
                tries += 1
            print(tries)
            """,
            "Failures before the first success, plus $start.",
        ),
        Recipe(
            """
            import math
            import random

            miss = 1 - $probability
            waits = $start
            waits += int(math.log(1 - random.random()) / math.log(miss))
            print(waits)
            """,
            "The whole part of an exponential: failures before the first success, from $start.",
            lambda params: params["probability"] < 1,
        ),
    ),
    "negative-binomial": (
        Recipe(
            """
            import random

            hits = misses = 0
            while hits < $successes:
                if random.random() < $probability:
                    hits += 1
                else:
                    misses += 1
            print(misses)
            """,
            "Failures before success number $successes.",
            whole("successes"),
        ),
        Recipe(
            """
            import math
            import random

            misses = 0
            for _ in range($successes):
                misses += int(math.log(1 - random.random()) / math.log(1 - $probability))
            print(misses)
            """,
            "$successes whole parts of exponentials, each the failures before a success, summed.",
            whole("successes"),
        ),
    ),
    "categorical": (
        Recipe(
            """
            import random

            labels = $values
            weights = $probabilities
            $u = random.random() * sum(weights)
            for label, weight in zip(labels, weights):
                if $u < weight:
                    break
                $u -= weight
            print(label)
            """,
            "A point on a line of segments as long as the probabilities.",
        ),
        Recipe(
            """
            import random

            slots = $values
            heights = $probabilities
            while True:
                i = random.randrange(len(slots))
                if random.random() * max(heights) < heights[i]:
                    break
            print(slots[i])
            """,
            "A random slot is accepted in proportion to its probability.",
        ),
    ),
}

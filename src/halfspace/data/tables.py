"""Tables that come with the package: Hubble's of 1929, and one that is as untidy as real ones.

The latter has numbers, categories, dates, gaps, an id, a constant, and rows that contradict each other.
"""

import numpy as np

from halfspace._typing import Labels

__all__ = ["customers", "hubble"]

REGIONS = np.array(["east", "north", "south", "west"])
PLANS = np.array(["monthly", "yearly", "trial"])
CITIES = 70
TODAY = np.datetime64("2026-01-01", "s")
NEBULAE = (
    ("Small Magellanic Cloud", 0.032, 170),
    ("Large Magellanic Cloud", 0.034, 290),
    ("NGC 6822", 0.214, -130),
    ("NGC 598", 0.263, -70),
    ("NGC 221", 0.275, -185),
    ("NGC 224", 0.275, -220),
    ("NGC 5457", 0.45, 200),
    ("NGC 4736", 0.5, 290),
    ("NGC 5194", 0.5, 270),
    ("NGC 4449", 0.63, 200),
    ("NGC 4214", 0.8, 300),
    ("NGC 3031", 0.9, -30),
    ("NGC 3627", 0.9, 650),
    ("NGC 4826", 0.9, 150),
    ("NGC 5236", 0.9, 500),
    ("NGC 1068", 1.0, 920),
    ("NGC 5055", 1.1, 450),
    ("NGC 7331", 1.1, 500),
    ("NGC 4258", 1.4, 500),
    ("NGC 4151", 1.7, 960),
    ("NGC 4382", 2.0, 500),
    ("NGC 4472", 2.0, 850),
    ("NGC 4486", 2.0, 800),
    ("NGC 4649", 2.0, 1090),
)
"""Name, distance in megaparsec, velocity in km/s: E. Hubble, "A relation between distance and radial velocity among
extra-galactic nebulae", Proceedings of the National Academy of Sciences 15 (1929), 168-173, table 1."""


def customers(n_rows: int, rng: np.random.Generator) -> dict[str, Labels]:
    """Return a made-up table of customers; the last column says who left.

    Whether a customer leaves depends on the plan, on the time since the last order, on how much was spent, and on age, plus
    noise. One row in a hundred repeats another one under a new id, and says the opposite.

    Missing values are NaN, NaT, or empty text.
    """
    idle = rng.exponential(90.0, n_rows)
    age = np.clip(rng.normal(45.0, 15.0, n_rows), 18.0, 95.0).round()
    orders = rng.poisson(8.0, n_rows)
    spent = np.exp(rng.normal(4.0, 1.2, n_rows)).round(2)
    plan = PLANS[rng.choice(3, n_rows, p=[0.55, 0.35, 0.1])]
    newsletter = rng.random(n_rows) < 0.4
    region = REGIONS[rng.choice(4, n_rows, p=[0.4, 0.3, 0.2, 0.1])]
    leaning = 1.5 * (plan == "monthly") + 2.5 * (plan == "trial") + idle / 60.0 - 0.8 * np.log(spent) - 0.03 * (age - 45.0)
    leaning += 0.6 * (region == "north") - 0.7 * newsletter - 0.1 * orders + 0.7 * rng.standard_normal(n_rows)
    left = leaning > np.quantile(leaning, 0.7)
    joined = TODAY.astype("datetime64[D]") - rng.integers(400, 3000, n_rows)
    last_order = TODAY - (idle * 86400).astype("timedelta64[s]")
    table: dict[str, Labels] = {
        "joined": joined,
        "last order": np.where(rng.random(n_rows) < 0.05, np.datetime64("NaT"), last_order),
        "age": np.where(rng.random(age.size) < 0.08, np.nan, age),
        "orders": orders,
        "spent": spent,
        "plan": plan,
        "region": np.where(rng.random(n_rows) < 0.03, "", region),
        "city": np.char.add("city ", (rng.zipf(1.6, n_rows) % CITIES).astype(str)),
        "newsletter": newsletter,
        "left": np.where(left, "yes", "no"),
    }
    first, again = np.split(rng.permutation(n_rows)[: 2 * (n_rows // 100)], 2)
    for values in table.values():
        values[again] = values[first]
    table["left"][again] = np.where(table["left"][first] == "yes", "no", "yes")
    ids = np.char.add("C", np.char.zfill((rng.permutation(n_rows) + 1).astype(str), 7))
    return {"customer": ids, "currency": np.full(n_rows, "EUR")} | table


def hubble() -> dict[str, Labels]:
    """Return the columns nebula, distance (megaparsec) and velocity (km/s), each of shape (24,).

    Examples
    --------
    >>> table = hubble()
    >>> float(table["distance"] @ table["velocity"] / (table["distance"] @ table["distance"])) // 1
    423.0
    """
    names, distances, velocities = zip(*NEBULAE, strict=True)
    return {"nebula": np.array(names), "distance": np.array(distances), "velocity": np.array(velocities, dtype=np.float64)}

"""Hubble's table of 1929: how far 24 nebulae are away, and how fast they recede."""

import numpy as np

from halfspace._typing import Labels

__all__ = ["hubble"]

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

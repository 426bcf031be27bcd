"""Write reference.json: the theory's values by mpmath with 30 digits, from the textbook forms of the equations.

Nothing here is shared with `halfspace.theory`: overlaps R and q are the unknowns, integrals are over the whole line, and the
stream's equations are solved by their Taylor series. Run `python tests/theory/make_reference.py`; it takes a minute or two.
"""

import json
from pathlib import Path

from mpmath import acos, cos, erfc, findroot, inf, ln, mp, mpf, ncdf, npdf, pi, quad, sin, sqrt

ALPHAS = ["1e-3", "0.03", "0.5", "2", "20", "300", "1e4"]


def H(x):
    return erfc(x / sqrt(2)) / 2


def line(f, scale=1):
    """Return ∫ f over the line, cut where its pieces may bend."""
    cuts = [-12, -4, -1, 0, 1, 4, 12]
    return quad(f, [c * scale for c in cuts])


def spread(b, alpha):
    """Return the best ridge's R from traces of the resolvent, m and its derivative."""
    penalty = (1 - b) / b
    m = lambda z: (-(z + alpha - 1) + sqrt((z + alpha - 1) ** 2 + 4 * z)) / (2 * z)  # noqa: E731
    z = mpf(penalty)
    slope = mp.diff(m, z)
    signal, noise = 1 + 2 * -z * m(z) - z * z * slope, m(z) + z * slope
    return sqrt(b) * (1 - z * m(z)) / sqrt(b * signal + (1 - b) * noise)


def linear(rule, alpha, flipped):
    b = (1 - 2 * mpf(flipped)) ** 2 * 2 / pi
    if rule == "hebb":
        R = sqrt(alpha * b / (1 + alpha * b))
    elif rule == "ridge":
        R = spread(b, alpha)
    elif alpha < 1:
        R = sqrt(alpha * b * (1 - alpha) / (1 - alpha * b))
    else:
        R = sqrt(b * (alpha - 1) / (b * (alpha - 1) + 1 - b))
    return acos(R) / pi


def overlap(alpha):
    """Return 1 - q of the version space."""

    def excess(p):
        integral = line(lambda t: npdf(t) * mp.exp(-(1 - p) * t * t / 2) / H(sqrt(1 - p) * t))
        return (1 - p) / sqrt(p) - alpha / pi * integral

    low, high = mpf("1e-12"), 1 - mpf("1e-7")
    return findroot(excess, (low, high), solver="anderson", tol=1e-25, maxsteps=500)


def members(alpha):
    p = overlap(alpha)
    q, g = 1 - p, sqrt((1 - p) / p)
    scale = 1 / sqrt(1 + g * g)
    vote = lambda t, P: P * (1 - P**2 * (3 - 2 * P)) + (1 - P) * P**2 * (3 - 2 * P)  # noqa: ARG005, E731
    entropy = 2 * alpha * line(lambda t: npdf(t) * H(g * t) * ln(H(g * t)), scale)
    return {
        "gibbs": acos(q) / pi,
        "bayes": acos(sqrt(q)) / pi,
        "committee": line(lambda t: npdf(t) * vote(t, ncdf(g * t)), scale),
        "log_volume": ln(p) / 2 + q / 2 + entropy,
    }


def optimal(alpha):
    """Return error, stability and support share of the optimal perceptron, from the two equations in R and kappa."""

    def equations(angle, kappa):
        R, s = cos(angle), sin(angle)
        ends = [-inf, -4 * s, -s, 0, kappa / 2, kappa] if kappa > 0 else [-inf, -4 * s, kappa]
        J = quad(lambda z: npdf(z) * (kappa - z) ** 2 * H(-R / s * z), ends)
        slope = quad(lambda z: (kappa - z) * mp.exp(-z * z / (2 * s * s)), ends) / pi
        return 1 - 2 * alpha * J / (s * s), 1 - slope / (2 * R * J) * s

    import halfspace.theory as start  # only where the search begins

    guess = (pi * start.learning_curve("stability", float(alpha)), mpf(start.stability(float(alpha))))
    angle, kappa = findroot(equations, guess, tol=1e-24)
    R, s = cos(angle), sin(angle)
    held = 2 * quad(lambda z: npdf(z) * H(-R / s * z), [-inf, -4 * s, -s, 0, kappa])
    return {"stability": angle / pi, "kappa": kappa, "support_share": held}


def series(c, p, state, degree):
    """Return the Taylor coefficients of angle, length, cosine, sine and alpha in the time with d alpha = length² sin d time."""
    T, L, C, S, A = ([x] for x in state)
    F, U, LU, LS = [], [], [], []  # (p + c T/π)/2 - L U,  U = (1 - c C)/sqrt(2π)

    def product(a, b, k):
        return sum((a[i] * b[k - i] for i in range(k + 1)), mpf(0))

    root = sqrt(2 * pi)
    turn = []
    for k in range(degree):
        U.append(((1 if k == 0 else 0) - c * C[k]) / root)
        LU.append(product(L, U, k))
        F.append(c * T[k] / (2 * pi) + (p / 2 if k == 0 else 0) - LU[k])
        LS.append(product(L, S, k))
        V = [((c if i == 0 else 0) - C[i]) / root for i in range(k + 1)]
        turn.append(product(C, F, k) - product(L, V, k))
        T.append(turn[k] / (k + 1))
        L.append(product(LS, F, k) / (k + 1))
        C.append(-product(S, turn, k) / (k + 1))
        S.append(product(C, turn, k) / (k + 1))
        A.append(product(L, LS, k) / (k + 1))
    return T, L, C, S, A


def stream(flipped, alphas, degree=24):
    p, c = mpf(flipped), 1 - 2 * mpf(flipped)
    first = mpf("1e-18")
    angle, length = acos(c * sqrt(first / pi)), sqrt(first / 2)
    state, found = [angle, length, cos(angle), sin(angle), first], []
    at = lambda a, h: sum((x * h**i for i, x in enumerate(a)), mpf(0))  # noqa: E731
    for alpha in alphas:
        while state[4] < alpha:
            parts = series(c, p, state, degree)
            h = min(((mpf("1e-24") * abs(a[0])) / (abs(a[-1]) + mpf("1e-60"))) ** (mpf(1) / degree) for a in parts[:2])
            if at(parts[4], h) > alpha:
                h = findroot(lambda x, a=parts[4], end=alpha: at(a, x) - end, (0, h), solver="anderson", tol=1e-28)
            angle, length, alpha_now = at(parts[0], h), at(parts[1], h), at(parts[4], h)
            state = [angle, length, cos(angle), sin(angle), alpha_now]
            if abs(alpha_now / alpha - 1) < mpf("1e-22"):
                break
        found.append(state[0] / pi)
    return found


if __name__ == "__main__":
    mp.dps = 30
    alphas = [mpf(a) for a in ALPHAS]
    table = {"alphas": [float(a) for a in alphas]}
    for flipped in (0.0, 0.1):
        for rule in ("hebb", "adaline", "ridge"):
            table[f"{rule} {flipped}"] = [float(linear(rule, a, flipped)) for a in alphas]
        table[f"perceptron {flipped}"] = [float(x) for x in stream(flipped, alphas)]
        print(flipped, flush=True)  # noqa: T201
    for solve in (members, optimal):
        rows = [solve(a) for a in alphas]
        table |= {name: [float(row[name]) for row in rows] for name in rows[0]}
        print(solve.__name__, flush=True)  # noqa: T201
    Path(__file__).with_name("reference.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")

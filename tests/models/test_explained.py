"""What every model says of how its fit ended: for each reason its own sentence and remedy, with the ends of each range."""

import warnings
from types import SimpleNamespace as Some

import numpy as np
import pytest

import halfspace as hs
from halfspace.errors import GapWarning, NotSeparatedWarning
from halfspace.models.multiclass import fit_outcome, report_outcome
from halfspace.models.planes.minover import width
from halfspace.models.regression import adaptive_filter, bayesian_regression, linear_regression
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.prototypes import glvq_batch

BUDGET, TIME, STOP = "iteration budget spent", "time budget spent", "interrupted"


def said(outcome):
    return outcome.reason, outcome.sentence, outcome.remedy


def warned(explain, *args):
    """Return what is said, and the names of the warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        outcome = explain(*args)
    return outcome, [type(one.message).__name__ for one in found]


# ---------------------------------------------------------------- duality gaps
@pytest.mark.parametrize(
    ("gap", "reasons", "reason", "words"),
    [
        (1e-3, ["converged"], "converged", "Converged after 3 steps: relative duality gap 0.001 <= tol=0.001."),
        (1e-3, ["solved", STOP], STOP, "Interrupted after 3 steps, with relative duality gap 0.001 <= tol=0.001."),
        (2e-3, ["solved", STOP, TIME], STOP, "3 steps (interrupted) with relative duality gap 0.002 > tol=0.001."),
        (2e-3, ["solved"], "rounding limit reached", "gap 0.002 > tol=0.001: rounding errors hide smaller gaps."),
        (np.inf, [TIME], TIME, "Stopped after 3 steps (time budget spent): no separation without errors was found."),
        (1e-9, [TIME, "proved inseparable"], "proved inseparable", "Proved inseparable after 3 steps: no plane separates"),
    ],
)
def test_a_gap_is_said_with_its_tolerance(gap, reasons, reason, words):
    """A gap within tol has converged, whatever ended the runs, but an interruption is said; a proof comes first."""
    model = Some(n_iter_=3, tol=1e-3)
    outcome = fit_outcome(model, gap, reasons, "step", unseparated="Elsewhere.", about="Approximately.")
    assert outcome.reason == reason
    assert words in outcome.sentence
    assert outcome.sentence.endswith("Approximately.")
    assert bool(outcome.remedy) is (gap > 1e-3 or reason == "proved inseparable")
    assert (outcome.remedy == "Elsewhere.") is (gap == np.inf)
    model.n_iter_ = 1
    assert fit_outcome(model, 1e-4, [], "step", unseparated="").sentence.startswith("Converged after 1 step:")


@pytest.mark.parametrize(
    ("gap", "reason", "kind"),
    [(0.1, TIME, GapWarning), (np.inf, TIME, NotSeparatedWarning), (0.1, "proved inseparable", NotSeparatedWarning)],
)
def test_a_reason_that_is_none_of_these_warns_of_nothing(gap, reason, kind, capsys):
    """A gap warns of a gap, a plane that was not found of that; it is printed only if asked for."""
    model = Some(outcome_=Outcome(reason, "Stopped."), verbose=False)
    with pytest.warns(kind, match="Stopped"):
        report_outcome(model, gap, {reason}, 1)
    assert capsys.readouterr().err == ""
    model.verbose = True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report_outcome(model, gap, {"converged"}, 1)
    assert "Stopped" in capsys.readouterr().err


# ---------------------------------------------------------------- margins
def state(lower, upper):
    return Some(sides=(lower, upper), lower=lower, upper=upper)


@pytest.mark.parametrize("reason", [BUDGET, TIME, STOP])
def test_minover_says_whether_the_margin_is_known_separated_proved_or_open(reason):
    """Known to within tol, that included; separated; proved for all that are open; or neither."""
    states = {"known": state(0.75, 1.0), "apart": state(0.5, 1.0), "not": state(-0.5, 1.0), "touching": state(0.0, 1.0)}
    widths = {name: width(one) for name, one in states.items()}

    def explain(*names, proofs=(), tol=0.25):
        model = hs.MinOver(tol=tol, max_iter=9)
        model._states, model.n_iter_ = [states[name] for name in names], 7
        end = Some(outcome=Outcome(reason, "At the end.", "More."), state=Some(proofs=dict.fromkeys(proofs)))
        return warned(model._explained, end)

    outcome, warnings_ = explain("known", tol=widths["known"])
    assert said(outcome)[0] == "converged"
    assert "within 0.25" in outcome.sentence
    outcome, warnings_ = explain("known", "apart")
    assert outcome.reason == reason
    start = "Stopped after 7 pushes (max_iter=9)." if reason == BUDGET else f"{reason.capitalize()} after"
    assert outcome.sentence.startswith(start)
    assert "Separated; the best margin is known to within 0.5 > tol=0.25." in outcome.sentence
    assert not warnings_
    for name in ("not", "touching"):
        outcome, warnings_ = explain("known", name)
        assert "neither separated nor proved" in outcome.sentence
        assert warnings_ == ([] if reason == STOP else ["NotSeparatedWarning"])
    outcome, warnings_ = explain("known", "not", proofs=[1])
    assert outcome.reason == "proved inseparable"
    assert warnings_ == ["NotSeparatedWarning"]
    assert explain("not", "not", proofs=[1])[0].reason == reason


@pytest.mark.parametrize("reason", [BUDGET, TIME, STOP])
def test_kernel_minover_says_the_same_of_a_kernel(reason):
    """The bracket that was measured may be wider than the one counted: then rounding is to blame."""

    def explain(counted, *measured, whole=True):
        model = hs.KernelMinOver(tol=0.25, max_iter=9)
        model._states, model.n_iter_ = [counted, state(0.875, 1.0)], 7
        return warned(lambda: model._explained(Outcome(reason, "At the end."), Some(parts=measured), whole=whole))

    close, apart, touching = state(0.75, 1.0), state(0.5, 1.0), state(0.0, 1.0)
    outcome, _ = explain(close, close)
    assert said(outcome) == ("converged", "Converged after 7 pushes: the margin is known to within 0.25.", "")
    assert "cache_size" in explain(close, close, whole=False)[0].sentence
    outcome, _ = explain(close, state(0.75 - 1e-5, 1.0), close)
    assert outcome.reason == "rounding limit reached"
    assert "tol above 0.25" in outcome.remedy
    assert explain(close, state(0.75 - 1e-8, 1.0))[0].reason == "converged"
    assert explain(close, state(-1.0, 0.0))[0].reason == "rounding limit reached"
    outcome, warnings_ = explain(apart, apart, close)
    assert (outcome.reason, warnings_) == (reason, [])
    assert "known to within 0.5 > tol=0.25" in outcome.sentence
    assert ("max_iter=9" in outcome.sentence) is (reason == BUDGET)
    outcome, warnings_ = explain(apart, apart, touching)
    assert "narrower" in outcome.remedy
    assert warnings_ == ([] if reason == STOP else ["NotSeparatedWarning"])


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_a_bayes_point_says_how_many_planes_it_is_the_mean_of(kernel):
    """All that were asked for, fewer, none and proved, or none and open: of several classes the worst counts."""
    ways = "AdaTron(C=1) tolerates errors" + ("." if kernel else ", and a kernel may separate what a plane cannot.")

    def explain(*answers, errors=(0.01, 0.02)):
        model = with_(hs.BayesPoint(kernel, n_members=9), centre_error_=np.array(errors), classes_=np.array(["a", "b", "c"]))
        return warned(model._explained, [Some(members=[None] * n, reason=why, empty=empty) for n, why, empty in answers])

    full, few, late = (9, "solved", None), (3, "time budget spent", None), (0, "time budget spent", None)
    stopped, odd, proved = (0, STOP, None), (0, "solved", None), (0, "solved", "proof")
    outcome, warnings_ = explain(full, full)
    mean = "The answer is the mean of 9 planes that agree with all labels"
    assert said(outcome) == ("solved", f"{mean}, which gives its direction to within 1.1°.", "")
    assert said(explain(full, errors=(np.inf,))[0]) == ("solved", f"{mean}.", "")
    assert not warnings_
    for answers in ((full, few), (few, full)):
        outcome, warnings_ = explain(*answers)
        assert outcome.sentence == "Only 3 of 9 members of the version space were drawn: time budget spent."
        assert (outcome.reason, warnings_) == (TIME, [])
    outcome, warnings_ = explain(proved)
    assert (outcome.reason, warnings_) == ("proved inseparable", ["NotSeparatedWarning"])
    assert outcome.sentence.startswith("Proved inseparable: no plane agrees")
    assert outcome.remedy.startswith(ways)
    assert "for 'b' against the rest" in explain(full, proved, full)[0].sentence
    outcome, warnings_ = explain(proved, full, late)
    assert (outcome.reason, warnings_) == (TIME, ["NotSeparatedWarning"])
    assert "is known for 'a', 'c' against the rest" in outcome.sentence
    assert outcome.remedy == f"Raise max_time. If no plane exists: {ways}"
    assert explain(odd)[0].remedy.startswith("Scale the columns")
    assert explain(stopped)[1] == []


# ---------------------------------------------------------------- perceptrons
def with_(model, **learnt):
    vars(model).update({"n_iter_": 4, **learnt})
    return model


def test_perceptrons_say_what_became_of_their_passes():
    """Each rule has its own end: no mistake, as many epochs as asked, fewest errors, or a plane that was not found."""
    spent, timed, solved = (Outcome(reason, "End.", "Later.") for reason in (BUDGET, TIME, "converged"))
    for model, words in (
        (hs.AveragedPerceptron(), "4 epochs, as asked; the answer is the mean over all of them."),
        (with_(hs.VotedPerceptron(), mistakes_=np.array([1000, 234])), "4 epochs, as asked; 1,234 weight vectors vote."),
        (hs.PassiveAggressive(), "4 epochs, as asked."),
    ):
        with_(model)
        assert said(model._explained(spent)) == ("passes done", words, "")
        assert model._explained(timed) == timed
    assert "epoch 4 changed nothing" in with_(hs.PassiveAggressive())._explained(solved).sentence
    pocket = with_(hs.PocketPerceptron(), errors_=np.array([3, 1500]))
    assert pocket._explained(solved) == solved
    assert pocket._explained(timed).sentence == "End. Best found: 1,503 errors on the training examples."
    plain = with_(hs.Perceptron())
    assert plain._explained(solved) == solved
    for reason, known, found in (
        (BUDGET, "neither separated nor proved", ["NotSeparatedWarning"]),
        (STOP, "neither separated nor proved", []),
        ("proved inseparable", "No plane separates these data", ["NotSeparatedWarning"]),
    ):
        outcome, warnings_ = warned(plain._explained, Outcome(reason, "End.", "Later."))
        assert (outcome.reason, warnings_) == (reason, found)
        assert known in str(outcome)
        assert outcome.remedy.startswith("Later. ")
        assert ("If a plane exists" in outcome.remedy) is (reason != "proved inseparable")


def test_a_kernel_perceptron_says_what_became_of_its_passes():
    """Without a mistake it has converged; a vote or a budget has done what was asked; else the kernel may not separate."""

    def explain(reason, whole=True, **params):
        model = with_(hs.KernelPerceptron(**params), mistakes_=np.array([5, 6]), _learner=Some(whole=whole))
        model._expansion = Some(rows=np.arange(1234))
        return warned(model._explained, Outcome(reason, "End.", "Later."))

    assert said(explain("converged")[0]) == ("converged", "Converged: epoch 4 brought no mistake, so none will come.", "")
    assert "cache_size" in explain("converged", whole=False)[0].sentence
    assert said(explain(STOP)[0]) == (STOP, "End.", "Later.")
    for params in ({"variant": "voted"}, {"budget": 5}):
        assert said(explain(BUDGET, **params)[0]) == (
            "passes done",
            "4 epochs, as asked; 1,234 support vectors, 11 mistakes.",
            "",
        )
        assert said(explain(TIME, **params)[0]) == (TIME, "End. 1,234 support vectors, 11 mistakes.", "Later.")
    outcome, warnings_ = explain(BUDGET)
    assert outcome.reason == BUDGET
    assert "still brought mistakes" in outcome.sentence
    assert "variant='averaged'" in outcome.remedy
    assert warnings_ == ["NotSeparatedWarning"]


def test_a_committee_counts_those_that_separate():
    """All of them: converged; one interrupted: interrupted; then the worst of their reasons, with its remedy."""

    def explain(*reasons, asked=None, remedy=""):
        model = with_(hs.PerceptronCommittee(n_members=asked or len(reasons)))
        return model._explained([Some(outcome=Outcome(reason, f"{reason}.", remedy)) for reason in reasons])

    assert said(explain("converged", "converged")) == (
        "converged",
        "2 of 2 members separate the examples they were shown.",
        "",
    )
    assert explain("converged", asked=3).sentence.endswith(" There was no time for 2 more.")
    outcome = explain("converged", STOP, TIME, asked=9)
    assert outcome.reason == STOP
    assert outcome.sentence == (
        "Interrupted with 3 of 9 members, the last one unfinished. 1 of 3 members separate the examples they were shown."
    )
    assert explain("converged", TIME, "diverged").reason == "diverged"
    assert said(explain(BUDGET, TIME)) == (
        TIME,
        f"{TIME}. 0 of 2 members separate the examples they were shown.",
        "Raise max_time, or use fewer members.",
    )
    assert explain(TIME, remedy="Own.").remedy == "Own."
    assert said(explain("converged", BUDGET)) == (
        "passes done",
        "4 epochs, as asked. 1 of 2 members separate the examples they were shown.",
        "",
    )


# ---------------------------------------------------------------- prototypes
def test_prototypes_say_why_they_came_to_rest():
    """Online learning by its epochs and how far the last one moved them; a descent by its cost."""

    def explain(reason, rounds=4, moved=0.5, method=None, model=None):
        model = with_(model or hs.LVQ(max_time=2.0, tol=0.25), certificate_=Some(errors=1200))
        model.history_ = {"moved": [9.0, moved]}
        end = Some(outcome=Outcome(reason, "."), rounds=rounds, state=Some(costs=(0.25, 0.5)))
        outcome = model._explained(method or Some(unit="epoch"), end, 5000)
        assert outcome.sentence.endswith(" 1,200 of 5,000 rows are nearer to a prototype of another class.")
        return outcome.reason, outcome.sentence.rpartition(" 1,200 of")[0], outcome.remedy

    rest = "the last one moved the prototypes by 0.5 of their spread"
    assert explain(BUDGET) == ("passes done", f"4 epochs done: {rest}.", "Raise max_iter, or lower eta0 or half_life.")
    assert explain(BUDGET, rounds=1, moved=1e-9)[1:] == (
        "1 epoch done: the last one moved the prototypes by 1e-09 of their spread.",
        "",
    )
    assert explain("converged") == ("converged", f"Converged after 4 epochs: {rest}, tol=0.25.", "")
    assert explain("diverged")[1] == "Prototypes ran away in epoch 5: the model is that of the epoch before."
    assert "Lower eta0" in explain("diverged")[2]
    assert explain(TIME)[1] == "The time limit of 2 s was reached in epoch 5."
    assert explain(TIME)[2].startswith("Raise max_time, or ")
    assert explain(STOP)[1] == "Stopped in epoch 5."
    assert explain("stopped by callback")[1] == "Stopped in epoch 4."
    assert explain("converged", rounds=0)[1].startswith("Converged after 0 epochs: the last one moved the prototypes by inf")
    descent = object.__new__(glvq_batch.Descent)
    fell = "the mean cost fell from 0.5 to 0.25"
    for reason, words in (
        ("converged", f"Converged after 4 steps: {fell}, in the last by less than tol=0.25 of it."),
        ("rounding limit reached", f"No lower cost was found in the direction of step 5, as at a kink of the cost: {fell}."),
        (BUDGET, f"Stopped after 4 steps: {fell}."),
    ):
        found = explain(reason, method=descent)
        assert found[:2] == (reason, words)
        assert found[2].startswith("Raise max_iter") if reason == BUDGET else found[2] == ""


def test_a_metric_of_low_rank_is_said():
    """A rank that time allowed no more of is said, one that was asked for or is full is not."""
    for rank, shape, hurried in ((None, (2, 3), True), (2, (2, 3), False), (None, (3, 3), False), (None, (2, 1, 3), True)):
        model = with_(hs.GMLVQ(rank=rank, max_time=2.0), certificate_=Some(errors=0), history_={"moved": [0.0]})
        model.omega_ = np.zeros(shape)
        end = Some(outcome=Outcome("converged", "."), rounds=1, state=Some(costs=(0.25, 0.5)))
        outcome = model._explained(object.__new__(glvq_batch.Descent), end, 5)
        assert (f"The metric has rank {shape[-2]}, for max_time=2 allows no more of 3 columns." in outcome.sentence) is hurried
        assert (outcome.remedy == "Raise max_time, or give a rank.") is hurried


def test_quantisers_say_what_they_reached():
    """k-means by its steps and starts, online rules by epochs, revived and dead prototypes."""
    model = with_(hs.KMeans(3, max_iter=5, n_init=2, max_time=2.0), inertia_=1.5)
    found = "error 1.5 with 3 prototypes"
    converged = f"Converged in 4 steps: {found}. Other starts may do better."
    assert said(model._explained(None, cut=False)) == ("converged", converged, "")
    early = model._explained(TIME, cut=False).sentence
    assert early == f"Time budget spent before all 2 starts were made. Best: {converged}"
    assert said(model._explained(None, cut=True)) == (
        TIME,
        f"Stopped after 4 steps (max_time=2), perhaps short of a fixed point: {found}.",
        "Raise max_time; certificate_.step_gain is what a step gains.",
    )
    with_(model, n_iter_=5)
    assert model._explained(None, cut=True).reason == BUDGET
    assert model._explained(TIME, cut=False).reason == TIME
    model = with_(hs.VectorQuantizer(3, max_iter=7), certificate_=Some(dead=np.arange(2)), _presented=25, inertia_=1.5)
    for revived, words in ((0, ""), (6, " Prototypes without a win in an epoch were revived 6 times.")):
        outcome = model._explained("passes done", Some(counts=(25, revived)), 10)
        start = f"2.5 of 7 epochs presented: quantisation error {model.inertia_:.6g}."
        assert outcome.sentence == f"{start}{words} 2 of 3 prototypes are nearest to no row."
        assert outcome.remedy.startswith("Ask for fewer")
    model.certificate_ = Some(dead=np.arange(0), error=1.5)
    assert said(model._explained("passes done", Some(counts=(25, 0)), 10)) == ("passes done", start, "")
    outcome = model._explained(TIME, Some(counts=(25, 0)), 10)
    assert said(outcome) == (TIME, f"Time budget spent: {start}", "Call fit with warm_start=True to go on from there.")


def test_a_mixture_says_what_is_odd_about_it():
    """Deviations at their floor and prototypes without rows are counted; a fixed deviation has no floor."""
    from halfspace.solvers.prototypes.mixture import Fixed

    model = hs.IsotropicMixture(3, tol=1e-3)

    def explain(reason, sigmas, weights, rule=None):
        mixture = Some(sigmas=np.array(sigmas), weights=np.array(weights))
        end = Some(course=[-8.0, -6.0, -4.0], gain=-1.0 if reason == TIME else 0.5, mixture=mixture)
        return model._explained(end, reason, rule or Some(floor=0.1), 2.0)

    start = "after 2 EM steps: log-likelihood -2 a row, one more step would add"
    assert said(explain("converged", [1.0, 0.2], [0.5, 0.5])) == ("converged", f"Converged {start} 0.25 (tol=0.001).", "")
    outcome = explain(TIME, [0.1, 0.05, 1.0], [1.0, 0.0, 0.0])
    assert outcome.sentence.startswith(f"Time budget spent {start} 0 (tol=0.001). sigma of 2 of 3 prototypes stands")
    assert outcome.sentence.endswith(" 2 prototypes have no rows.")
    assert [word in outcome.remedy for word in ("warm_start", "sigma_floor", "another init")] == [True] * 3
    assert "floor" not in explain("converged", [0.1], [1.0], rule=Fixed(0.1)).sentence


# ---------------------------------------------------------------- regression
def test_adaline_compares_its_backward_error_with_tol():
    """Equal to tol has converged; the largest of all classes counts."""
    from halfspace.certificates import LeastSquaresGap, PerClass

    parts = [object.__new__(LeastSquaresGap) for _ in range(2)]
    for part, error in zip(parts, (0.25, 0.125), strict=True):
        object.__setattr__(part, "backward_error", error)
    for solver, unit in (("exact", "step"), ("online", "epoch")):
        for certificate in (parts[0], PerClass(("a", "b"), tuple(parts))):
            model = with_(hs.Adaline(solver=solver, tol=0.25), certificate_=certificate)
            outcome = model._explained(Outcome(BUDGET, "End."))
            assert said(outcome) == ("converged", f"Converged in {unit} 4: backward error 0.25 <= tol=0.25.", "")
            model.tol = 0.2
            outcome = model._explained(Outcome(BUDGET, "End."))
            assert said(outcome)[:2] == (BUDGET, "End. Backward error 0.25 > tol=0.2.")
            assert outcome.remedy.startswith("solver='exact'" if solver == "online" else "Scale the features")


@pytest.mark.parametrize(
    ("rate", "longest", "left", "blown", "reason"),
    [
        (0.5, 4.0, 9.0, False, "passes done"),
        (0.5, 4.1, 9.0, False, "diverged"),
        (0.5, 4.1, 4.0, False, "passes done"),
        (0.5, 4.0, 1.0, True, "diverged"),
        (0.5, 1e50, 9.0, False, "diverged"),
        (0.5, 1e51, 9.0, False, "diverged"),
    ],
)
def test_a_filter_diverged_if_its_steps_were_too_long_and_made_it_worse(rate, longest, left, blown, reason):
    """Only steps beyond 2 that left more than there was, or a filter that blew up, count; a safe rate is named."""
    tally = np.zeros(8)
    tally[adaptive_filter.LONGEST] = longest
    run = Some(errors=np.array([np.sqrt(left)]), stream=Some(tally=tally), blown=blown, reason="passes done")
    outcome = adaptive_filter._explained(run, np.array([2.0, 7.0]), Some(normalised=False, rate=rate))
    assert outcome.reason == reason
    if reason == "diverged":
        assert ("set back to zeros" in outcome.sentence) is blown
        assert outcome.remedy == (
            f"Use eta0={1 / longest:.3g}, which is safe for these signals, or variant='nlms'."
            if longest == 4.1
            else "Scale the signals to numbers around 1."
        )
    run.reason = TIME
    if reason != "diverged":
        outcome = adaptive_filter._explained(run, np.array([2.0, 7.0]), Some(normalised=False, rate=rate))
        assert outcome.remedy == "Go on with partial_fit(X[1:], y[1:])."
        assert outcome.sentence.startswith("Stopped after 1 of 2 samples (time budget spent)")
        assert adaptive_filter._explained(run, np.array([2.0]), Some(normalised=True, rate=9.0)).reason == TIME


@pytest.mark.parametrize(("blown", "steepest"), [(True, 0.5), (False, 2.0), (False, 3.0)])
def test_a_filter_that_blew_up_or_took_too_long_a_step_proves_nothing(blown, steepest):
    """The theorem needs every mu ‖u‖² below 2."""
    tally = np.full(8, steepest)
    run = Some(errors=np.ones(1), steps=np.ones(1), stream=Some(tally=tally, weights=None), blown=blown)
    assert hs.AdaptiveFilter()._certified(None, np.ones(1), run) is None


def test_a_posterior_says_where_the_evidence_is_largest():
    """Only of precisions that were not given, and not at an edge; noise and prior are standard deviations."""
    for unset, edge, largest in (((), "", False), (("alpha",), "", True), (("alpha",), "high", False)):
        outcome = bayesian_regression._explained(Some(alpha=4.0, beta=16.0, at_edge=edge), unset, "it")
        assert outcome.sentence.startswith("Solved: it. Noise 0.25, prior 0.5 (standard deviations)")
        assert ("the evidence is largest there" in outcome.sentence) is largest


@pytest.mark.parametrize(
    ("rank", "ridge", "weights", "gamma", "free", "words"),
    [
        (3, 0.0, 9, 2.0, False, ""),
        (2, 0.0, 9, 2.0, False, "Infinitely many weights fit equally well (rank 2 of 3 inputs)"),
        (2, 0.0, 2, 1.0, False, "Infinitely many weights fit exactly (rank 2"),
        (2, 0.0, 3, 1.0, True, "Infinitely many weights fit exactly (rank 2"),
        (2, 0.5, 9, 2.0, False, ""),
        (0, 0.0, 9, 0.0, False, "fit equally well (rank 0"),
        (3, 0.0, 4, 4.0, False, "No degrees of freedom are left"),
        (3, 0.0, 4, 3.0, True, "No degrees of freedom are left"),
        (3, 0.0, 4, 3.0, False, ""),
    ],
)
def test_a_line_says_what_the_data_leave_open(rank, ridge, weights, gamma, free, words):
    """Many solutions without a ridge, exact ones if the rank is that of the rows; none left for noise."""
    design = Some(D=3, s=np.ones(weights))
    data = Some(design=design, free=free, total=float(weights))
    fit = Some(rank=rank, gamma=gamma, route="QR", run=None)
    outcome = linear_regression._explained(data, Some(fit=fit, how="", remedy="", ridge=ridge), "best\nmore")
    assert outcome.sentence.startswith("Solved by QR: best.")
    assert words in outcome.sentence
    assert words or outcome.sentence == "Solved by QR: best."
    assert outcome.remedy.startswith("Drop constant") is ("Infinitely" in outcome.sentence)


def test_kernel_machines_say_how_width_and_ridge_were_chosen():
    """The least error is found in the whole table; at its ends the grid should reach further."""
    model = with_(hs.KernelRegression(), certificate_="best\nmore", ridge_=0.5, history_={})
    assert model._explained([], 1).sentence == "Solved by Cholesky: best."
    assert model._explained([], 2).sentence == "Solved by Cholesky in 2 cells, an approximation: best."
    errors = np.full((3, 3), 2.0)
    for at, remedy in (
        ((1, 1), ""),
        ((1, 0), "best ridge is the smallest"),
        ((1, 2), "best ridge is the largest"),
        ((0, 1), "best gamma is the smallest"),
        ((2, 1), "best gamma is the largest"),
    ):
        least = errors.copy()
        least[at], least[0, 0] = 1.0, np.nan
        model.history_ = {"errors": least, "gammas": np.array([1.0, 2.0, 3.0])}
        outcome = model._explained([None] * 3, 1)
        assert f"least at gamma {at[0] + 1} and ridge 0.5." in outcome.sentence
        assert remedy in outcome.remedy
        assert remedy or outcome.remedy == ""
    model.history_ = {"errors": np.array([[1.0]]), "gammas": np.array([np.nan])}
    assert model._explained([None], 1).sentence.endswith("is least at ridge 0.5.")
    assert model._explained([None], 1).remedy == ""


def test_a_learnt_metric_is_said_with_what_it_was_chosen_from():
    """Given, learnt before, or learnt in so many rounds; unfinished searches have a remedy."""
    model = with_(hs.RelevanceKernelRegressor(), certificate_="best\nmore")
    found = model._explained("kernel", 2).sentence
    assert found == "Solved by Cholesky in 2 cells, an approximation: best. The metric was learnt before."
    model.kernel = "given"
    assert model._explained("kernel", 1).sentence == "Solved by Cholesky: best. The metric was given."
    for ended, rounds, remedy in (("complete", 0, ""), (TIME, 6, "Raise max_time"), (STOP, 6, "Fit again")):
        model._ended = ended, "b", rounds
        outcome = model._explained(None, 1)
        metric = f"a metric learnt in {rounds} rounds" if rounds else "no learnt metric"
        assert f"Of 4 machines, judged by rows that taught no metric, b with {metric} was" in outcome.sentence
        assert outcome.sentence.endswith("was best." if ended == "complete" else "was the best so far.")
        assert outcome.reason == ("solved" if ended == "complete" else ended)
        assert outcome.remedy.startswith(remedy)
        assert bool(outcome.remedy) is bool(remedy)

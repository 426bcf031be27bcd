"""The promise about lost ham, and the measures of a stream."""

import numpy as np
import pytest
from scipy import stats

from halfspace.errors import InputError
from halfspace.mail.evaluation import evaluate, missed, one_minus_roca
from halfspace.mail.promise import HamScores, allowed, answer, least, needed

SPAM = [(1.0, True)] * 5
"""Enough for scores of ham to count."""


@pytest.mark.parametrize("eps", [0.01, 0.005, 0.001])
def test_the_rank_is_that_of_the_binomial_tail(eps):
    """The number allowed above the threshold is the largest that SciPy's binomial tail permits, and one more is too many."""
    for n in (needed(eps) - 1, needed(eps), 1000, 4000, 20_000):
        k = allowed(n, eps)
        assert k < 0 or stats.binom.cdf(k, n, eps) <= 0.05
        assert stats.binom.cdf(k + 1, n, eps) > 0.05
        assert k < 0 or allowed(least(k, eps), eps) == k > allowed(least(k, eps) - 1, eps)


def test_the_promise_is_kept_as_often_as_it_says():
    """Of 400 thresholds from scores of known distribution, about 5 % lose more than 1 %."""
    rng = np.random.default_rng(0)
    thresholds = [HamScores(SPAM + [(score, False) for score in rng.standard_normal(500)]).promised(0.01) for _ in range(400)]
    assert np.mean(stats.norm.sf(thresholds) > 0.01) < 0.08


def test_a_promise_is_about_the_latest_ham():
    """Of 700 ham the last 628 count, of which two may be above; the scores of a weaker filter before them do not."""
    scores = [5.0] * 72 + [1.0, 2.0, 3.0] + [-1.0] * 625
    past = HamScores(SPAM + [(score, False) for score in scores])
    assert (past.latest(0.01), past.promised(0.01)) == (628, 1.0)
    assert HamScores(SPAM + [(0.0, False)] * 298).promised(0.01) is None


def test_scores_count_once_some_spam_is_known():
    """Ham that was scored by a filter without spam says nothing about one that knows some: nothing is promised of it."""
    past = HamScores([(-1.0, False)] * 400 + SPAM[:4])
    assert (past.default(), past.promised(0.01), past.missing(0.01)) == (-0.1, None, 299)
    past.extend([*SPAM[:1], *[(0.5, False)] * 299])
    assert (past.promised(0.01), past.missing(0.01), past.n_ham) == (0.5, 0, 699)
    one = HamScores()
    for score, spam in [(-1.0, False)] * 400 + SPAM + [(0.5, False)] * 299:
        one.add(score, spam=spam)
    assert (one.promised(0.01), one.in_order) == (past.promised(0.01), past.in_order)


def test_the_default_threshold_leans_with_the_share_of_ham():
    """Where ham is rare a hundredth of it may be above, where it is common more; with little ham it is 0."""
    rare = HamScores([(1.0, True)] * 300 + [(k / 100, False) for k in range(100)])
    common = HamScores([(1.0, True)] * 20 + [(k / 100, False) for k in range(100)])
    low = HamScores([(1.0, True)] * 50 + [(-1.0, False)] * 100)
    assert (rare.default(), common.default(), low.default()) == (0.98, 0.93, -0.04)
    assert HamScores(SPAM + [(0.9, False)] * 4).default() == 0.0
    assert [answer(score, -0.04) for score in (0.0, -0.1, -0.2)] == ["spam", "unsure", "ham"]


def test_the_measures_are_their_definitions():
    """1-ROCA counts pairs in the wrong order, ties half; ties with the threshold are missed."""
    rng = np.random.default_rng(1)
    ham, spam = rng.integers(0, 8, 300).astype(float), rng.integers(3, 12, 200).astype(float)
    wrong = (ham[:, None] > spam).mean() + (ham[:, None] == spam).mean() / 2
    assert one_minus_roca(ham, spam) == pytest.approx(100 * wrong)
    assert missed(ham, spam, 0.005) == 100 * np.mean(spam <= np.sort(ham)[-2])
    found = evaluate(np.concatenate([ham, spam]), np.repeat([-1, 1], [300, 200]), np.repeat([False, True], [300, 200]))
    low, high = found.roca_interval
    assert low < found.roca < high
    assert (found.ham_lost, found.spam_missed) == (0.0, 0.0)
    with pytest.raises(InputError, match="0 spam"):
        evaluate(ham, -np.ones(300))

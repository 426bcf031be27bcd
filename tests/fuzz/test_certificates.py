"""Mutants of the JSON of certificates."""


def test_mutants_of_certificates_are_refused_or_judged(fuzzed):
    """A changed certificate, or proof of `halfspace separable`, is a CertificateError, or has a verdict on its data."""
    fuzzed("certificates", cases=4000)

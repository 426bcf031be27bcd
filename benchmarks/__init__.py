"""Races against the peers: `python -m benchmarks [case ...]`."""

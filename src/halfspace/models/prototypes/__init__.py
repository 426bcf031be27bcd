"""Estimators with prototypes: quantisers, mixtures, the LVQ family."""

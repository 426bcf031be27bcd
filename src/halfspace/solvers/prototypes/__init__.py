"""Prototypes: vector quantisation, neural gas, mixtures, the LVQ family."""

"""Certificates of prototypes: errors, quantisation, mixtures."""

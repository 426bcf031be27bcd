"""Least squares, ridge, evidence, posterior."""

"""Estimators in a kernel's space."""

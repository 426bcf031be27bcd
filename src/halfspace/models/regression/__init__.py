"""Regression and adaptive filters."""

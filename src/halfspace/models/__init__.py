"""Estimators with scikit-learn's habits: validate, build a view, solve, store. The arithmetic is elsewhere."""

"""Estimators with planes: perceptrons, Adaline, MinOver, AdaTron."""

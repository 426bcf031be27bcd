"""Separability in exact arithmetic."""

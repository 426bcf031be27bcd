"""Certificates of regression: ridge, posterior, adaptive filters."""

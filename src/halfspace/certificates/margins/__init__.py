"""Certificates of planes and kernel expansions: brackets, gaps, mistakes, separability."""

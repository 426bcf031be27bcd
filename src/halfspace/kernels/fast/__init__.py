"""Compiled kernel values: activations, the micro-kernel of a product, blocks of the matrix."""

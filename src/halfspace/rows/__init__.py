"""Rows: views of the data and the operations on them, orders, labels, threads.

Nothing is imported here: certificates reach `halfspace.rows.threads` through the kernels, and load no Numba.
"""

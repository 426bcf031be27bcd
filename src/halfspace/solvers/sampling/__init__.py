"""Random members of sets."""

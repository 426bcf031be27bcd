"""Rules: what to add to the strength of the example just seen, one a file."""

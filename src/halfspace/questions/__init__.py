"""Questions to data before any model: are the classes separable, and by how much."""

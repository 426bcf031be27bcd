"""Questions without a model of one's own: are the classes separable, by how much, and why would a model err."""

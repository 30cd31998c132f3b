"""A finished store: where it comes from, what its tables mean, and how its lines, texts and rows are read in place."""

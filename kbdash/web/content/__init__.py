"""Pages about what is inside the kernels: search, steps, trust, and the panel for a missing content store."""

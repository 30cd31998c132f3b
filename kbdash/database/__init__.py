"""DuckDB over the files of one source: opening, attaching, asking, materialising, guarding."""

"""One source text: read out of its file, recognised, compared, exported."""

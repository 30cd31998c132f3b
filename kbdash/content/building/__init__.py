"""Making a store: the source texts of a data file are read, split into lines, numbered, written, and verified."""

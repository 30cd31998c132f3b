"""All source texts of a data file at once: a dictionary of lines, and every text as runs over it.

`layout` says what the tables mean, `build` makes them, `store` reads them; the questions are `search`, `origins`,
`relatives` and `steps`. `python -m kbdash.content` is the command line.
"""

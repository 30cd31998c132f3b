"""All source texts of a data file at once: a dictionary of lines, and every text as runs over it.

`questions` and `insight` are the questions, `stores` knows which stores there are, `command` is the command line:
`python -m kbdash.content`. Each folder says in its `__init__` what it is for.
"""

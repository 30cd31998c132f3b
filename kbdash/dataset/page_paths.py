"""The pages beside those of competitions: path and title. No file of a dataset may take such a path."""

IN_MENU = {
    "search": "Search",
    "steps": "Steps",
    "trust": "Trust",
    "user": "User",
    "sql": "SQL",
    "about": "About",
}
HIDDEN = {"submission": "Submission", "compare": "Compare", "ladder": "Ladder"}  # links of other pages lead there
TAKEN = (*IN_MENU, *HIDDEN, "overview", "api")

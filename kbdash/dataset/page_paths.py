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
ROUTES = (  # first parts of the paths at which the server answers itself: ours, then Streamlit's
    "api", "badge", "mcp", "preview", "app", "auth", "component", "media", "oauth2callback", "static",
)  # fmt: skip
TITLES = IN_MENU | HIDDEN
TAKEN = (*TITLES, "overview", *ROUTES)

"""The same questions for programs: data links, their description, a feed and badges. Knows no Streamlit."""

"""The tabs of a board: each takes a Scene and draws itself."""

"""Finding the lines that match a pattern, and the submissions that contain them."""

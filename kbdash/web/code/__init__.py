"""Source code on screen: one submission, two compared, and how one person got fast."""

"""The dashboard as a Space on the Hub."""

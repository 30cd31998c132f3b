"""Putting finished stores on the Hub, with the card that says what they hold."""

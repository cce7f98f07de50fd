"""What lies over a screen for a moment and gives back an answer."""

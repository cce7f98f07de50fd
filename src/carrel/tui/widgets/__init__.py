"""The widgets that screens are built from."""

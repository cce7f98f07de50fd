"""The screens: the frame, and the six places in it."""

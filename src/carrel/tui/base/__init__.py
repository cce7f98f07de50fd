"""The base of the six screens: frame, marking, jumps, dialogs."""

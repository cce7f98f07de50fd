"""The base of the six screens: frame, marking, navigation, dialogs."""

"""The base of all areas: slices, actions, the owner loop, problems, number formats."""

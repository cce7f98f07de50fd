"""What every area stands on: slices, actions, the owner loop, problems, and number formats."""

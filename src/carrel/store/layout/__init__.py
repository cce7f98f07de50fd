"""How tables and panes are laid out on this machine."""

"""Work that runs now, and work that an earlier start left, of every kind."""

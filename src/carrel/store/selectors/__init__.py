"""From slices to what is shown: pure functions, the same words for both faces."""

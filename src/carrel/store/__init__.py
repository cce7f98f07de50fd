"""The state both faces share: slices, the actions that write them, selectors. Knows no screen."""

"""The state both faces share: one package per area, over `core`. Knows no screen and no server."""

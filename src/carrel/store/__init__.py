"""The state both faces share: a package an area, over `core`. Knows no screen and no server."""

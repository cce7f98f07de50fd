"""How often a kill loop goes round: few times in every run of the tests, many in `.ci/soak`."""

import os


def rounds(few: int, many: int) -> int:
    """`few`, or `many` with `CARREL_TEST_SOAK=1`."""
    return many if os.environ.get("CARREL_TEST_SOAK") == "1" else few

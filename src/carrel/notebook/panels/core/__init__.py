"""The base of every panel, and the parts that several share."""

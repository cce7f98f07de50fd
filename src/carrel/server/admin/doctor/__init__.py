"""Looks at every part of a server, whether or not it runs, and says what to mend."""

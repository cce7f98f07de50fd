"""A folder kept in step with a library.

The folder leads and the library follows: nothing on disk is ever changed. A library holds one
document for each content, so files of the same bytes are one document, named after the first of
them by path. Documents that this folder did not bring are never renamed or deleted, and those of
files that a rule leaves out only if that is asked for.
"""

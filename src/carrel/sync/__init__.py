"""Keeps a library in step with a folder.

The folder leads and the library follows; files on disk are never changed. A library holds one
document per content: files with the same bytes share a document, named after the first of them
by path. Documents that this folder did not upload are never renamed or deleted. Documents of
files left out by a rule are deleted only on request.
"""

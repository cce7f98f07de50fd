"""One-way sync of a folder to a library.

The folder leads and the library follows; files on disk are never changed. A library holds one
document per content: equal files share a document, named after the first path. Documents that this
folder did not upload are never renamed or deleted. Documents of files excluded by a rule are
deleted only on request.
"""

"""The list of files, uploads, downloads and previews."""

"""The shipped sample, from upload to answer."""

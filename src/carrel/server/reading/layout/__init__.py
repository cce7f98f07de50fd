"""Lines, tables and figures of a page, put together as regions in reading order."""

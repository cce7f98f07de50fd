"""Word documents to parts, with what their HTML by mammoth lacks."""

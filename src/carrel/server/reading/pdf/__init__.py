"""PDF files to pages: the text layer where there is one, OCR where there is none."""

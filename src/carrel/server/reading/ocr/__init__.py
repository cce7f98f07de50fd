"""The OCR process and its models: decoded RGB in; text, regions and table cells out."""

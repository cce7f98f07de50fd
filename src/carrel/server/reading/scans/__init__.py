"""Reads text, rules and figures of scanned pages with the OCR process."""

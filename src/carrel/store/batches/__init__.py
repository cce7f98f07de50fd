"""Batch jobs of the service: listed in Activity, cancelled, saved; and OCR of many files in one
job."""

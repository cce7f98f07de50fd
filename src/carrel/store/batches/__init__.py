"""Batch jobs of the service: shown in Activity, cancelled, saved, and OCR of many files as one."""

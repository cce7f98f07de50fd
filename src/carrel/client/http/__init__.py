"""Sends requests and reads answers: transport, uploads, downloads, events, errors."""

"""Metrics and traces for an operator, each enabled by an option."""

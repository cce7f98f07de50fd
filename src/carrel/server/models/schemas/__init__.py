"""JSON schemas of answers: their bounds, and extraction by them."""

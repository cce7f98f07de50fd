"""JSON schemas that answers keep to: their bounds, and what is extracted by them."""

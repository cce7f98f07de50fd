"""Fields, filters, and lists of choices."""

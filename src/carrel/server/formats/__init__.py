"""Media types and character sets, told from bytes."""

"""Pages that are pictures: their text, rules and figures, by way of the OCR process."""

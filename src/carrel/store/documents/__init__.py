"""The open document: pictures, text, boxes, marks, tables, export, and OCR of many documents."""

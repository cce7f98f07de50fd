"""Readings scored on pages whose truth is known: order, tables and headings."""

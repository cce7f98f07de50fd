"""The tables of version 0.1, which nothing makes any more.

Revision ID: 0001
"""

revision = "0001"
down_revision = None

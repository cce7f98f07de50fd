"""Office, web and text files to pages, inside a parser."""

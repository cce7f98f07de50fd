"""The prompt, transcripts, and the source beside an answer."""

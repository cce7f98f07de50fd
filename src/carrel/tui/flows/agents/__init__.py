"""Tasks about agents: drafts, versions, files, model servers."""

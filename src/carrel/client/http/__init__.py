"""HTTP: transport, uploads, downloads, events, errors."""

"""A vision model at an OpenAI-compatible address reads pages beside the built-in reader."""

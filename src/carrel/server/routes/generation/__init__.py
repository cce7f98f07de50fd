"""Routes that ask a model: agents, completions, conversations, responses, batches."""

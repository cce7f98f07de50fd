"""The next question, the agent that answers it, and its answer."""

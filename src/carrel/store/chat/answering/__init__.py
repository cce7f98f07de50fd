"""The next question, the answering agent, and the answer."""

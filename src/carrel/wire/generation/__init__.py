"""Agents, and every shape in which a model is asked and answers."""

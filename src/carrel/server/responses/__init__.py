"""The Responses shape over completions: requests in, answers and events out."""

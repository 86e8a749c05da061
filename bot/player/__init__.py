"""One seat at a table: prompts in, answers out in time."""

"""What a session starts with: entries in their order, within budgets, and the answer of it."""

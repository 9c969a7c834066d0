"""The intents of agents and owners, and the doors to them."""

"""The intents of agents and owners, and the doors to them. The Python API is `tools.api`."""

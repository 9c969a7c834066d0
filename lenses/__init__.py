"""What the owner sees of the vault."""

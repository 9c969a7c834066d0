"""The bundle of a recall: what may go into it, what that is worth, and how it is packed."""

"""The write policy: what is checked before a memory is written, in which order, and the write."""

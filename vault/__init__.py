"""Notes on disk: the vocabulary, parsing, editing, and the one module that writes files."""

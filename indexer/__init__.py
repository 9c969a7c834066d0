"""Everything derived from the notes: text index, link graph, catalog, watcher."""

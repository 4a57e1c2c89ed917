"""The only application of the project: pages and their revisions."""

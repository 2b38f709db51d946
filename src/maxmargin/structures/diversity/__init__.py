"""Few documents that cover many subtopics."""

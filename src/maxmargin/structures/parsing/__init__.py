"""Parse trees of context-free grammars."""

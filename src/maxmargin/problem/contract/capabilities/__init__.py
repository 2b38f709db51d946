"""The capabilities of batches: small protocols, one per file, that a batch offers where its structure has them."""

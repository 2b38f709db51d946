"""What all pictures share, and the pictures of training itself."""

"""Inner loops of dependency trees."""

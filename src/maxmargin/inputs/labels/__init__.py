"""Labels, their costs and hierarchies, and labelled units."""

"""Assignments: which row belongs to which column, and which stay alone."""

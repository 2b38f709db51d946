"""Compiled inner loops of dependency trees."""

"""Compiled inner loops over tokens."""

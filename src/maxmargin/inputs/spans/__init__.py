"""Texts with labelled spans of characters, and the file formats of annotation tools."""

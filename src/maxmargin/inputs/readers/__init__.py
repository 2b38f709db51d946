"""Readers and writers of file formats that several structures share."""

"""Motifs in the minimal text format of MEME: an alphabet, a background, and a probability matrix per motif."""

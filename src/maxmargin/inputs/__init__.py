"""What structures share: labels, tokens, matrices, words, labelled units."""

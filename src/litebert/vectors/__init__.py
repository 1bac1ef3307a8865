"""What a text or a word is as numbers: masks filled, sentence vectors, nearest words."""

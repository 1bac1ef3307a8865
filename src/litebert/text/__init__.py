"""From files of text to documents, sentences and tokens."""

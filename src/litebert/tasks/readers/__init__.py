"""How do files become examples? One file a format; what cannot be read is said with its file and row."""

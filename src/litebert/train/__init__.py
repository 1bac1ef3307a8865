"""Training's parts; import what you need from the file that owns it, nothing is imported here."""

"""Other people's folders: Hugging Face, original TensorFlow checkpoints, and our own."""

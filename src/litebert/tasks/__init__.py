"""What does a user ask of an encoder? Kinds of task, readers of their data, their measures, and fine-tuning."""

"""What prints: tables, words and data of estimates, predictions and explorations."""

"""What an estimate is, whichever way it was made."""

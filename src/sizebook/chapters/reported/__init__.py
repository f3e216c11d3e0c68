"""What the five reports print, as this book cites it."""

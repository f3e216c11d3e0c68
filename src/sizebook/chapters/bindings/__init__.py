"""What the first calls of a JVM cost."""

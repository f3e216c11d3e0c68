"""How a size follows from measurements: the model beside what was measured."""

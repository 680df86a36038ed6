"""`make demo`: a face is found in a photograph by a trained network on the simulated array, then ResNet-50 runs whole."""

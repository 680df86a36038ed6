"""Random quantized layers, compiled and run: reference = golden = RTL on every element and every word written."""

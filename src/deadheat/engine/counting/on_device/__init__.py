"""The counting pass on a device of PyTorch's: products and counting there, what they leave open decided as always."""

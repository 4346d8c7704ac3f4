"""Pages: in come reports, out goes one HTML file each that needs no network, for a supplement or a pull request."""

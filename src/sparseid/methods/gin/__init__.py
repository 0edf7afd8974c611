"""GIN, a volume-preserving flow of images, with the penalties of Diverse Dictionary Learning on its inverse."""

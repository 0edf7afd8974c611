"""Images or sounds of users, each labelled with a sequence of tokens."""

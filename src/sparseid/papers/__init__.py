"""The papers as data: reported numbers, checkable claims, and which table or figure reads which rows."""

"""The command line: compose, skip what is done, run, report."""

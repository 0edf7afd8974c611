"""AudioMNISTSequence: sequences of spoken digits, labelled in the order in which they are spoken."""

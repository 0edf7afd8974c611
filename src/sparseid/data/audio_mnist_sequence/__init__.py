"""AudioMNISTSequence: sequences of spoken digits, labelled with the digits in spoken order."""

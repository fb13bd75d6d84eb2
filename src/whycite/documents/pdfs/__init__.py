"""The parts of the PDF reader, each run in the limited process unless it says otherwise."""

"""The steps from one data folder format to the next; revision 0001 is format 1."""

"""How good a memory is, measured on a copy of a vault with a file of labelled cases."""

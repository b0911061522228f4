"""Exercise 1.3: how fast can it write?

A laptop reads {{bandwidth:.0f}} GB from memory in a second (1 GB = 10^9 bytes). A model like
`blank` has {{millions:.0f}} million weights in fp32. To write one token it reads every weight once.

How many tokens does it write in a second, for one user, if reading is all that counts?
Write a number. Within 25% is right.
"""

answer = None

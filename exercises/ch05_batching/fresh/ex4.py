"""Exercise 5.4: how much does continuous batching gain? Four traces.

64 requests wait in a line, for 8 seats. All are there from the start. In each trace below one
line of numbers is one STATIC batch: the tokens that its 8 requests write.

equal       every request writes {{equal_length}} tokens

uniform     total {{uniform_total}}
{{uniform_text}}

skewed      total {{skewed_total}}
{{skewed_text}}

sorted      the numbers of "skewed", longest first: total {{skewed_total}}
{{sorted_text}}

For each trace: steps of static batching divided by steps of continuous batching. A static batch
lasts as long as its longest request. For continuous batching a good guess is: total / seats (its
last seats run empty, so it needs a little more). Guess, do not simulate. Within 25% is right.

answer = {"equal": 1.0, "uniform": ..., "skewed": ..., "sorted": ...}
"""

answer = None

"""Exercise 8.6: how large can the error of one weight be?

The weights of a group lie between -{{low}} and +{{high}}, both ends included. They are rounded to
the nearest value of the format. What is the largest error that the rounding can make, for

1. int8, symmetric: scale = max |w| / 127,
2. int4, symmetric: scale = max |w| / 7,
3. int4, asymmetric: scale = (max - min) / 15?  (Take the zero point as exact.)

The answer is a list of three numbers. 25% off is fine.
"""

answer = None

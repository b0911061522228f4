"""Exercise 8.4: what does one outlier do to the other weights?

A row of 4,096 weights is normal with standard deviation 1; its largest |w| is 4. It is coded in
int4 with ONE scale, max |w| / 7, rounded to nearest. What share of the weights gets code 0?

Then ONE weight becomes {{outlier}}. What share of the others gets code 0 now?

The answer is a list of two shares (0 to 1): before, and with the outlier. 25% off is fine.

The share of normal weights (standard deviation 1) with |w| < a is math.erf(a / 2**0.5).
"""

answer = None

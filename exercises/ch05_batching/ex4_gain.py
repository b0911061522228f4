"""Exercise 5.4: how much does continuous batching gain? Four traces.

64 requests wait in a line, for 8 seats. All are there from the start. In each trace below one
line of numbers is one STATIC batch: the tokens that its 8 requests write.

equal       every request writes 20 tokens

uniform     total 1480
     25  12   4  36  43  11  16  18
     31  17  34  41   7   9  21  13
     32  26  39  12  36  20  15  44
      8  15  40  14  17  34  24   9
     33  15  42  16  19  43  19   4
      4  28  33   6  40  20  17  20
     37  20  29  33  40  23  10  15
     36  12  41  41   7  17  18  19

skewed      total 995
      8   4  15  20   4  20   6  19
      6  16  17  43  13  13   9   5
     21  24  28   9   6   4   5  13
     45  20   7   4  40  14  23   9
     13  13   4  17   9   8  29  40
     10  19  15   8  19  11   4   5
      5  16   6  27  17  52  33  16
      5   9  38   8   6  15  21   7

sorted      the numbers of "skewed", longest first: total 995
     52  45  43  40  40  38  33  29
     28  27  24  23  21  21  20  20
     20  19  19  19  17  17  17  16
     16  16  15  15  15  14  13  13
     13  13  13  11  10   9   9   9
      9   9   8   8   8   8   7   7
      6   6   6   6   6   5   5   5
      5   5   4   4   4   4   4   4

For each trace: steps of static batching divided by steps of continuous batching. A static batch
lasts as long as its longest request. For continuous batching a good guess is: total / seats (its
last seats run empty, so it needs a little more). Guess, do not simulate. Within 25% is right.

answer = {"equal": 1.0, "uniform": ..., "skewed": ..., "sorted": ...}
"""

answer = None

"""Exercise 3.6: predict how many tokens one sentence is, in English and in Korean.

English: I forgot to charge my phone again last night.
Korean:  어젯밤에 또 휴대폰 충전하는 것을 잊었어요.

Two tokenizers read them. On other everyday sentences we counted how many BYTES (not letters) of
UTF-8 one token holds:

                           English   Korean
    tiny   (1,024 ids)       2.0       1.7
    Gemma 3 (262,144 ids)    4.9       4.4

An English letter, a space and a full stop take 1 byte each, a Korean syllable takes 3. The Korean
sentence has 18 syllables and 6 other characters.

Give four numbers of tokens. Within 25% of the rule above is right; the notebook then counts.
"""

# {"tiny_english": ..., "tiny_korean": ..., "gemma_english": ..., "gemma_korean": ...}
answer = None

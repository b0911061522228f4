"""Exercise 3.6: predict how many tokens one sentence is, in English and in Korean.

English: {{english}}
Korean:  {{korean}}

Two tokenizers read them. On other everyday sentences we counted how many BYTES (not letters) of
UTF-8 one token holds:

                           English   Korean
    tiny   (1,024 ids)       {{tiny_english:.1f}}       {{tiny_korean:.1f}}
    Gemma 3 (262,144 ids)    {{gemma_english:.1f}}       {{gemma_korean:.1f}}

An English letter, a space and a full stop take 1 byte each, a Korean syllable takes 3. The Korean
sentence has {{syllables}} syllables and {{plain}} other characters.

Give four numbers of tokens. Within 25% of the rule above is right; the notebook then counts.
"""

# {"tiny_english": ..., "tiny_korean": ..., "gemma_english": ..., "gemma_korean": ...}
answer = None

"""Other right answers of 3.4."""

import codecs


def with_codecs(held, new):
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return decoder.decode(held + new), decoder.getstate()[0]


def with_error(held, new):
    data = held + new
    try:
        return data.decode("utf-8"), b""
    except UnicodeDecodeError:
        pass
    for size in (3, 2, 1):
        tail = data[-size:]
        try:
            tail.decode("utf-8")
        except UnicodeDecodeError as error:
            if error.start == 0 and error.reason == "unexpected end of data":
                return data[:-size].decode("utf-8", "replace"), tail
    return data.decode("utf-8", "replace"), b""

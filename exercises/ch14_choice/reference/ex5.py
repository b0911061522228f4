"""Reference of 14.5."""


def policy(request, now):
    waited = now - request["arrival"]
    return request["answer"] - 200 * waited

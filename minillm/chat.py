"""Chat templates: somebody else's jinja program, run in a sandbox with limits.

The sandbox keeps it from Python's internals. The limits keep it from running or growing without
end: length of the template, seconds, size of every string it makes, length of the result.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from functools import wraps

MAX_TEMPLATE = 100_000  # characters; the longest we know of has 20,000
MAX_TEXT = 4_000_000  # characters of the result and of any string on the way
MAX_SECONDS = 2.0


class TemplateError(ValueError):
    """A chat template that is wrong, refuses the messages, or would not come to an end."""


def render(template: str, messages, add_generation_prompt: bool, variables: dict) -> str:
    """Fill a template with [{"role": ..., "content": ...}] -> the prompt's text."""
    from jinja2 import TemplateError as JinjaError

    if len(template) > MAX_TEMPLATE:
        raise TemplateError(f"the chat template has over {MAX_TEMPLATE} characters")
    values = {"tools": None, "documents": None} | variables
    values |= {"messages": messages, "add_generation_prompt": add_generation_prompt}
    before = sys.gettrace()
    try:
        program = _environment().from_string(template)
        sys.settrace(_watch(time.monotonic() + MAX_SECONDS))
        parts, size = [], 0
        for part in program.generate(values):
            parts.append(part)
            size = _limit(size + len(part))
        return "".join(parts)
    except TemplateError:
        raise
    except (JinjaError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError,
            RecursionError, MemoryError, SyntaxError) as error:  # fmt: skip
        raise TemplateError(f"the chat template failed: {type(error).__name__}: {error}") from None
    finally:
        sys.settrace(before)


def _watch(deadline: float):
    """A trace function: looks at the clock and the strings at every line of the template."""

    def watch(frame, event, arg):
        if time.monotonic() > deadline:
            raise TemplateError(f"the chat template ran for more than {MAX_SECONDS} seconds")
        for value in frame.f_locals.values():
            if isinstance(value, (str, list)):
                _limit(len(value))
        return watch

    return watch


def _limit(size) -> int:
    if size > MAX_TEXT:
        raise TemplateError(f"the chat template makes a text of more than {MAX_TEXT} characters")
    return size


def _size(value) -> int:
    """Upper bound of what a value can contribute to the size of a result."""
    if isinstance(value, (str, bytes)):
        return max(1, len(value))
    if isinstance(value, (list, tuple)):
        return max(1, sum(_size(v) for v in value))
    return max(1, abs(value)) if type(value) is int else 1


def _bounded(function):
    """Check before the call that its result cannot be huge: the product of all sizes."""

    @wraps(function)
    def bounded(*args, **kwargs):
        product = 1
        for value in (*args, *kwargs.values()):
            if isinstance(value, (str, bytes, int, list, tuple)):
                product *= _size(value)
        _limit(product // 10)  # generous: such a product is an upper bound, rarely reached
        return function(*args, **kwargs)

    return bounded


def _environment():
    from jinja2.ext import loopcontrols
    from jinja2.nodes import Add, Concat, Filter
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset(["+", "*", "**", "%"])

        def call_binop(self, context, operator, left, right):
            if operator == "**" and _size(left) > 1:
                _limit(_size(left).bit_length() * _size(right))
            elif operator == "%" and isinstance(left, str):
                raise TemplateError("the chat template uses % formatting, which we do not run")
            elif isinstance(left, int) and isinstance(right, int):
                pass
            elif operator == "*":
                _limit(_size(left) * _size(right))
            elif operator == "+":
                _limit(_size(left) + _size(right))
            return super().call_binop(context, operator, left, right)

        def call(self, context, function, *args, **kwargs):
            owner = getattr(function, "__self__", None)
            if getattr(function, "__name__", "") in ("format", "format_map"):
                raise TemplateError("the chat template uses format, which we do not run")
            if isinstance(owner, (str, bytes)):
                _bounded(lambda *a, **k: None)(owner, *args, **kwargs)
            return super().call(context, function, *args, **kwargs)

        def _parse(self, source, name, filename):
            tree = super()._parse(source, name, filename)
            _replace_concat(tree, Concat, Add, Filter)
            return tree

    environment = Environment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters = {n: _bounded(f) for n, f in environment.filters.items()}
    environment.filters["tojson"] = _to_json
    for name in ("format", "pprint"):
        del environment.filters[name]
    del environment.globals["lipsum"]
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda text: datetime.now().strftime(text)
    return environment


def _replace_concat(tree, concat, add, filter_) -> None:
    """a ~ b cannot be intercepted, so it becomes a|string + b|string."""
    for node in tree.iter_child_nodes():
        _replace_concat(node, concat, add, filter_)
    for field, value in list(tree.iter_fields()):
        if isinstance(value, concat):
            setattr(tree, field, _sum(value, add, filter_))
        elif isinstance(value, list):
            value[:] = [_sum(v, add, filter_) if isinstance(v, concat) else v for v in value]


def _sum(node, add, filter_):
    parts = [filter_(n, "string", [], [], None, None, lineno=node.lineno) for n in node.nodes]
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part, lineno=node.lineno)
    total.set_environment(node.environment)
    return total


def _to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False) -> str:
    """As transformers has it: plain JSON, no HTML escapes."""
    if type(indent) is int and indent > 16:
        raise TemplateError("the chat template indents JSON by more than 16")
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)  # fmt: skip


def _raise(message) -> None:
    raise TemplateError(f"the chat template refuses these messages: {message}")

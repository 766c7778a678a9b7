"""GQL turned into the query that it says, as far as a SELECT goes.

Source: https://cloud.google.com/datastore/docs/reference/gql_reference
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import NoReturn

from tests.emulators.datastore.messages import (
    CompositeFilter,
    Message,
    PropertyFilter,
    PropertyOrder,
    Query,
    Value,
)
from tests.emulators.datastore.refusals import invalid

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)
    | (?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<binding>@\w+)
    | (?P<word>[A-Za-z_$][\w$.]*)
    | (?P<sign><=|>=|!=|[=<>*(),])
    )""",
    re.VERBOSE,
)
_OPERATORS = {
    "=": PropertyFilter.EQUAL,
    "<": PropertyFilter.LESS_THAN,
    "<=": PropertyFilter.LESS_THAN_OR_EQUAL,
    ">": PropertyFilter.GREATER_THAN,
    ">=": PropertyFilter.GREATER_THAN_OR_EQUAL,
    "!=": PropertyFilter.NOT_EQUAL,
    "IN": PropertyFilter.IN,
    "CONTAINS": PropertyFilter.EQUAL,
}
_CONSTANTS: dict[str, Message] = {
    "TRUE": Value(boolean_value=True),
    "FALSE": Value(boolean_value=False),
    "NULL": Value(null_value=0),
}


def parsed(given: Message) -> Message:
    """Return the query that a GqlQuery says.

    Raises:
        RefusedError: If it is no such SELECT, or binds or holds what it must not.
    """
    return _Parser(given).select()


class _Parser:
    """Reads one statement, a token at a time."""

    def __init__(self, given: Message) -> None:
        self._given = given
        self._tokens = _tokens(given.query_string)
        self._query: Message = Query()

    def select(self) -> Message:
        """Read the whole statement."""
        self._need("SELECT")
        everything = self._distinct()
        if not self._skip("*"):
            self._project(everything=everything)
        if self._skip("FROM"):
            self._query.kind.add().name = self._name()
        self._where()
        self._order()
        self._limits()
        if self._tokens:
            self._fail()
        return self._query

    def _distinct(self) -> bool:
        """Read what each is wanted once; tell whether that is everything that is projected."""
        if not self._skip("DISTINCT"):
            return False
        if not self._skip("ON"):
            return True
        self._need("(")
        for name in self._names():
            self._query.distinct_on.add().name = name
        self._need(")")
        return False

    def _project(self, *, everything: bool) -> None:
        for name in self._names():
            self._query.projection.add().property.name = name
            if everything:
                self._query.distinct_on.add().name = name

    def _where(self) -> None:
        if not self._skip("WHERE"):
            return
        composite = self._query.filter.composite_filter
        composite.op = CompositeFilter.AND
        self._condition(composite.filters.add().property_filter)
        while self._skip("AND"):
            self._condition(composite.filters.add().property_filter)

    def _condition(self, condition: Message) -> None:
        condition.property.name = self._name()
        if self._skip("IS"):
            self._need("NULL")
            condition.op, condition.value.null_value = PropertyFilter.EQUAL, 0
        elif self._skip("HAS"):
            self._need("ANCESTOR")
            condition.op = PropertyFilter.HAS_ANCESTOR
            condition.value.CopyFrom(self._value())
        else:
            operator = self._next().upper()
            if operator not in _OPERATORS:
                self._fail()
            condition.op = _OPERATORS[operator]
            condition.value.CopyFrom(self._value())

    def _order(self) -> None:
        if not self._skip("ORDER"):
            return
        self._need("BY")
        while True:
            order = self._query.order.add(direction=PropertyOrder.ASCENDING)
            order.property.name = self._name()
            if self._skip("DESC"):
                order.direction = PropertyOrder.DESCENDING
            else:
                self._skip("ASC")
            if not self._skip(","):
                return

    def _limits(self) -> None:
        if self._skip("LIMIT"):
            self._query.limit.value = self._value().integer_value
        if self._skip("OFFSET"):
            self._query.offset = self._value().integer_value

    def _value(self) -> Message:
        token = self._next()
        if token[0] == "@":
            return self._bound(token[1:])
        if not self._given.allow_literals:
            invalid(f"Disallowed literal: {token}.")
        if token.upper() in _CONSTANTS:
            return _CONSTANTS[token.upper()]
        made = _FUNCTIONS.get(token.upper())
        if made:
            self._need("(")
            value = made(self)
            self._need(")")
            return value
        return self._literal(token)

    def _literal(self, token: str) -> Message:
        if token[0] in "'\"":
            return Value(string_value=_unquoted(token))
        if re.fullmatch(r"[+-]?\d+", token):
            return Value(integer_value=int(token))
        if not re.match(r"[-+.\d]", token):
            self._fail()
        return Value(double_value=float(token))

    def _bound(self, name: str) -> Message:
        if name.isdigit():
            positional = self._given.positional_bindings
            if not 0 < int(name) <= len(positional):
                invalid(f"Absent positional binding: {name}.")
            return positional[int(name) - 1].value
        if name not in self._given.named_bindings:
            invalid(f"Absent named binding: {name}.")
        return self._given.named_bindings[name].value

    def array(self) -> Message:
        """Read the values of ``ARRAY(…)``."""
        made = Value()
        made.array_value.values.add().CopyFrom(self._value())
        while self._skip(","):
            made.array_value.values.add().CopyFrom(self._value())
        return made

    def moment(self) -> Message:
        """Read the text of ``DATETIME(…)``."""
        text = _unquoted(self._next())
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            invalid(f"Invalid datetime: {text}.")
        made = Value()
        made.timestamp_value.FromDatetime(moment)
        return made

    def key(self) -> Message:
        """Read the path of ``KEY(…)``; it is of the query's own partition."""
        made = Value()
        while True:
            element = made.key_value.path.add(kind=self._name())
            self._need(",")
            value = self._value()
            if value.string_value:
                element.name = value.string_value
            else:
                element.id = value.integer_value
            if not self._skip(","):
                return made

    def _names(self) -> list[str]:
        names = [self._name()]
        while self._skip(","):
            names.append(self._name())
        return names

    def _name(self) -> str:
        token = self._next()
        if token[0] == "`":
            return token[1:-1].replace("``", "`")
        if not re.match(r"[A-Za-z_$]", token):
            self._fail()
        return token

    def _next(self) -> str:
        if not self._tokens:
            self._fail()
        return self._tokens.pop(0)

    def _skip(self, wanted: str) -> bool:
        found = bool(self._tokens) and self._tokens[0].upper() == wanted
        if found:
            self._tokens.pop(0)
        return found

    def _need(self, wanted: str) -> None:
        if not self._skip(wanted):
            self._fail()

    def _fail(self) -> NoReturn:
        rest = " ".join(self._tokens) or "the end"
        invalid(f'GQL that this server does not read, before "{rest}"')


_FUNCTIONS: dict[str, Callable[[_Parser], Message]] = {
    "ARRAY": _Parser.array,
    "DATETIME": _Parser.moment,
    "KEY": _Parser.key,
}


def _tokens(statement: str) -> list[str]:
    found: list[str] = []
    at = 0
    while statement[at:].strip():
        match = _TOKEN.match(statement, at)
        if match is None:
            invalid(f'GQL that this server does not read: "{statement[at:]}"')
        found.append(match.group().strip())
        at = match.end()
    return found


def _unquoted(token: str) -> str:
    quote = token[0]
    inner = token[1:-1].replace(quote * 2, quote)
    return re.sub(r"\\(.)", r"\1", inner)

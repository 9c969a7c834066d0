"""What a tool and its arguments are, for every door.

A definition names the function that does the work, in which module it is, and its arguments.
Validation is here too, so that every door refuses the same input with the same words.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from ..vault.errors import InvalidArgument
from .wire import Json, camel, output_schema

if TYPE_CHECKING:
    from .vault import Vault

Kind = Literal["string", "integer", "boolean", "array", "object"]

KEPT_WORDS: Final[Mapping[str, str]] = {"note_class": "class", "from_agent": "from"}
"""Arguments that are called outside by a word that cannot be a name in Python."""

REQUIRED: Final = object()
"""The default of an argument that has none."""

_SHOULD_BE: Mapping[Kind, str] = {
    "string": "must be text",
    "integer": "must be a whole number",
    "boolean": "must be true or false",
    "array": "must be a list of texts",
    "object": "must be an object of names with values",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool. Bounds are inclusive; `long` text may come from a file or pipe."""

    name: str
    kind: Kind
    description: str
    default: object = REQUIRED
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    long: bool = False

    @property
    def wire(self) -> str:
        """The name on the MCP wire: camelCase, and the words that Python keeps for itself."""
        return KEPT_WORDS.get(self.name) or camel(self.name)

    @property
    def required(self) -> bool:
        """Whether a call without it is refused."""
        return self.default is REQUIRED

    def check(self, value: object) -> object:
        """Return a value as the tool takes it; raises `InvalidArgument` for any other."""
        if self.kind == "integer":
            return self._integer(value)
        if self.kind == "array":
            return self._texts(value)
        if self.kind == "object":
            return self._named(value)
        if self.kind == "boolean":
            return self._truth(value)
        if not isinstance(value, str):
            raise InvalidArgument(self.wire, _SHOULD_BE["string"])
        if self.choices and value not in self.choices:
            nearest = difflib.get_close_matches(value, self.choices, 1)
            problem = f"must be one of {', '.join(self.choices)}"
            raise InvalidArgument(self.wire, problem, nearest[0] if nearest else None)
        return value

    def schema(self) -> Json:
        """The JSON Schema of this argument: always one plain `type` and a description."""
        schema: Json = {"type": self.kind, "description": self.description}
        if self.kind == "array":
            schema["items"] = {"type": "string"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.minimum is not None:
            schema["minimum"] = self.minimum
        if self.maximum is not None:
            schema["maximum"] = self.maximum
        if not self.required and self.default not in (None, "", (), False):
            schema["default"] = self.default
        return schema

    def _truth(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise InvalidArgument(self.wire, _SHOULD_BE["boolean"])
        return value

    def _integer(self, value: object) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidArgument(self.wire, _SHOULD_BE["integer"])
        below = self.minimum is not None and value < self.minimum
        above = self.maximum is not None and value > self.maximum
        if below or above:
            raise InvalidArgument(self.wire, f"must be {self.bounds}, not {value}")
        return value

    @property
    def bounds(self) -> str:
        """The bounds in words: "from 1 to 100", "at least 0"; empty when there are none."""
        if self.minimum is not None and self.maximum is not None:
            return f"from {self.minimum} to {self.maximum}"
        return f"at least {self.minimum}" if self.minimum is not None else ""

    def _named(self, value: object) -> dict[str, object]:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise InvalidArgument(self.wire, _SHOULD_BE["object"])
        return dict(value)

    def _texts(self, value: object) -> tuple[str, ...]:
        texts = tuple(value) if isinstance(value, list | tuple) else (None,)
        if not all(isinstance(text, str) for text in texts):
            raise InvalidArgument(self.wire, _SHOULD_BE["array"])
        return texts


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: the function `name` in the module `module` of this package."""

    name: str
    title: str
    module: str
    description: str
    arguments: tuple[Argument, ...]
    answer: type
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False

    @property
    def short(self) -> str:
        """The first sentence of the description."""
        return f"{self.description.partition('. ')[0].removesuffix('.')}."

    @property
    def subject(self) -> Argument | None:
        """The argument that a person types first, without its name."""
        names = ["observation", "query", "ref", "title", "task", "name"]
        names += [one.name for one in self.arguments if one.name == "thread" and one.required]
        return next((one for one in self.arguments if one.name in names), None)

    def input_schema(self) -> Json:
        """The JSON Schema of the arguments: a closed object."""
        return {
            "type": "object",
            "properties": {one.wire: one.schema() for one in self.arguments},
            "required": [one.wire for one in self.arguments if one.required],
            "additionalProperties": False,
        }

    def output_schema(self) -> Json:
        """The JSON Schema of the answer."""
        return output_schema(self.answer)

    def check(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Turn wire arguments into Python's; raises `InvalidArgument`. Null means absent."""
        known = {one.wire: one for one in self.arguments}
        for name in given:
            if name not in known:
                raise self._unknown(name)
        present = {name: value for name, value in given.items() if value is not None}
        for one in self.arguments:
            if one.required and one.wire not in present:
                raise InvalidArgument(one.wire, "is required")
        return {known[name].name: known[name].check(value) for name, value in present.items()}

    def run(self, vault: Vault, given: Mapping[str, object]) -> object:
        """Check wire arguments, call the tool and return its answer."""
        arguments = self.check(given)
        function = getattr(import_module(f".{self.module}", __package__), self.name)
        try:
            return function(vault, **arguments)
        except InvalidArgument as error:
            named = {one.name: one.wire for one in self.arguments}
            argument = named.get(error.argument, error.argument)
            raise replace(error, argument=argument) from error

    def _unknown(self, name: str) -> InvalidArgument:
        names = [one.wire for one in self.arguments]
        nearest = difflib.get_close_matches(camel(name.replace("-", "_")), names, 1, 0.5)
        problem = f"{self.name} has no such argument; it has {', '.join(names)}"
        return InvalidArgument(name, problem, nearest[0] if nearest else None)

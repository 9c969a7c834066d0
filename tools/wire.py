"""The form of answers outside Python: camelCase JSON, and the schemas that describe it.

Every door sends what `wire` makes, so that an answer reads the same over MCP and with `--json`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..vault.errors import ZibaldoneError
from ..vault.source import readable

Json = dict[str, Any]

SAFE_INTEGER = 2**53 - 1
"""The largest integer that JSON readers with double-precision numbers keep exact."""

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def camel(name: str) -> str:
    """Return a snake_case name in camelCase."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def wire(answer: object) -> Json:
    """Return an answer as JSON data: wire names, lists for tuples, no fields that do not apply.

    The owner's own data (frontmatter) keeps its keys. What JSON cannot carry becomes text:
    numbers that are not finite or not exact in other languages, and lone surrogates.
    """
    return {
        name: _plain(value)
        for name, value in ((name, getattr(answer, field.name)) for name, field in _fields(answer))
        if value is not None
    }


def wire_error(error: ZibaldoneError) -> Json:
    """Return a failure as JSON data: `{"error": {code, message, nextStep, facts}}`."""
    facts = {camel(name): _plain(value) for name, value in error.facts().items()}
    return {
        "error": {
            "code": error.code,
            "message": readable(error.sentence),
            "nextStep": readable(error.next_step),
            "facts": {name: value for name, value in facts.items() if value is not None},
        }
    }


def output_schema(answer: type) -> Json:
    """Return the JSON Schema of what a tool answers, or of the error that it answers instead.

    Some clients hold errors to the schema of the answer as well, so it allows for both.
    """
    definitions: Json = {}
    root = _object_schema(answer, definitions)
    return {
        "type": "object",
        "properties": {**root["properties"], "error": _ERROR_SCHEMA},
        "anyOf": [{"required": root["required"]}, {"required": ["error"]}],
        **({"$defs": definitions} if definitions else {}),
    }


_ERROR_SCHEMA: Json = {
    "type": "object",
    "description": "Only in a failed call: what happened and what to do next.",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "nextStep": {"type": "string"},
        "facts": {"type": "object"},
    },
    "required": ["code", "message", "nextStep", "facts"],
}


def _fields(answer: Any) -> Iterator[tuple[str, dataclasses.Field[Any]]]:
    for field in dataclasses.fields(answer):
        yield field.metadata.get("wire") or camel(field.name), field


def _plain(value: object) -> Any:
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, bool | NoneType):
        return value
    if isinstance(value, int):
        return value if abs(value) <= SAFE_INTEGER else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {readable(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value):
        return wire(value)
    return readable(str(value))


def _object_schema(answer: type, definitions: Json) -> Json:
    hints = get_type_hints(answer)
    properties, required = {}, []
    for name, field in _fields(answer):
        hint = hints[field.name]
        properties[name] = _schema(hint, definitions)
        if not _optional(hint):
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _optional(hint: Any) -> bool:
    return get_origin(hint) in (UnionType, Union) and NoneType in get_args(hint)


def _schema(hint: Any, definitions: Json) -> Json:
    origin, arguments = get_origin(hint), get_args(hint)
    if _optional(hint):
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        return _schema(inner, definitions)
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object"}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}
            definitions[hint.__name__] = _object_schema(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return {"type": _PLAIN[hint]}

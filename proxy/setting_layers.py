"""Layers of settings: where each value was written, later layers over earlier ones; pure."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from proxy.errors import ConfigError

PREFIX = "TTSR_"
_NOT_SETTINGS = frozenset({"TTSR_CONFIG"})
_SECRETS = frozenset({"listen.token", "upstream.url"})
_ALLOWED = {
    "model_type": "should be a mapping of settings",
    "model_attributes_type": "should be a mapping of settings",
    "dict_type": "should be a mapping",
    "mapping_type": "should be a mapping",
    "tuple_type": "should be a list",
    "path_type": "should be a path",
    "bool_parsing": "should be true or false",
    "bool_type": "should be true or false",
    "int_parsing": "should be a whole number",
    "int_type": "should be a whole number",
    "float_parsing": "should be a number",
    "float_type": "should be a number",
    "missing": "should be set",
}
_IN_CONTAINER = re.compile(r"\[\d+\]$")


@dataclass(frozen=True, slots=True)
class Layer:
    """One source: its values as nested mappings, and for each dotted key where it was written."""

    values: Mapping[str, Any]
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def flat(cls, pairs: Mapping[str, object], origin: Callable[[str], str]) -> Layer:
        """Make a layer of dotted keys."""
        values: dict[str, Any] = {}
        for key, value in pairs.items():
            *above, last = key.split(".")
            place = values
            for part in above:
                place = place.setdefault(part, {})
            place[last] = value
        return cls(values, {key: origin(key) for key in pairs})


class _StrictLoader(yaml.SafeLoader):
    """YAML that refuses a key written twice in one mapping, instead of dropping the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the overridden signature
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is written twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def file_layer(text: str, name: str) -> Layer:
    """Read the settings file's text; raises ConfigError where it is no YAML mapping."""
    try:
        values = yaml.load(text, _StrictLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else 1
        raise ConfigError(f"{name} line {line} is not valid YAML: {problem.problem}.") from None
    except yaml.YAMLError as problem:
        raise ConfigError(f"{name} is not valid YAML: {problem}.") from None
    if values is None:
        return Layer({})
    if not isinstance(values, dict):
        raise ConfigError(f"{name} should be a mapping of settings, but is a {_kind(values)}.")
    return Layer(values, dict.fromkeys(_dotted(values), name))


def environment_layer(environ: Mapping[str, str], model: type[BaseModel]) -> Layer:
    """`TTSR_LISTEN__PORT` and the like; underscores inside a name are optional, case is free.

    Lists are comma-separated or YAML; raises ConfigError for a variable that names no setting.
    """
    pairs: dict[str, object] = {}
    origins: dict[str, str] = {}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in _NOT_SETTINGS:
            continue
        key, annotation = _key_of(variable, model)
        pairs[key] = _value_of(environ[variable], annotation, variable)
        origins[key] = variable
    return Layer.flat(pairs, origins.__getitem__)


def merge(layers: Sequence[Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """All values with later layers over earlier ones, and where each was written."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        values = _over(values, layer.values)
        origins |= layer.origins
    return values, origins


def one_sentence(
    problem: ValidationError, origins: Mapping[str, str], model: type[BaseModel]
) -> str:
    """Say the first problem in one sentence: key, where written, value, what is allowed."""
    first = problem.errors()[0]
    key = _dotted_location(first["loc"])
    origin = next((origins[k] for k in _ancestry(key) if k in origins), "the settings")
    if first["type"] == "extra_forbidden":
        return f"{key} in {origin} is not a setting{_meant(key, model)}."
    allowed = _ALLOWED.get(first["type"]) or _allowed(first["msg"])
    if key in _SECRETS:
        return f"{key} in {origin} cannot be used: it {allowed}."
    if first["type"] == "missing":
        return f"{key} in {origin} {allowed}."
    if isinstance(first["input"], dict):
        return f"{key} in {origin}: {allowed}." if key else f"{origin}: {allowed}."
    return f"{key} in {origin} is {first['input']!r}, but {allowed}."


def _allowed(message: str) -> str:
    message = message.removeprefix("Value error, ").removeprefix("Input ")
    return message[:1].lower() + message[1:]


def _meant(key: str, model: type[BaseModel]) -> str:
    section, _, name = key.rpartition(".")
    known = [name for name, _ in _keys(model)]
    depth = section.count(".") + 1 if section else 0
    inside = [name for name in known if not section or name.startswith(f"{section}.")]
    siblings = list(dict.fromkeys(name.split(".")[depth] for name in inside))
    by_last = {name.rpartition(".")[2]: name for name in known}
    by_last |= {sibling: f"{section}.{sibling}".lstrip(".") for sibling in siblings}
    close = difflib.get_close_matches(name, list(by_last), n=1, cutoff=0.7)
    if close:
        return f"; did you mean {by_last[close[0]]}"
    return f"; allowed are {', '.join(siblings)}" if siblings else ""


def _key_of(variable: str, model: type[BaseModel]) -> tuple[str, Any]:
    names = variable.removeprefix(PREFIX).split("__")
    wanted = ".".join(name.replace("_", "").lower() for name in names)
    keys = dict(_keys(model))
    for key, annotation in keys.items():
        if key.lower() == wanted:
            return key, annotation
    spelled = {key.lower(): key for key in keys}
    close = difflib.get_close_matches(wanted, list(spelled), n=1, cutoff=0.6)
    hint = f"; did you mean {variable_for(spelled[close[0]])}" if close else ""
    raise ConfigError(f"the environment variable {variable} is not a setting{hint}.")


def variable_for(key: str) -> str:
    """Name the environment variable that sets a dotted key."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).replace(".", "__")
    return PREFIX + words.upper()


def _value_of(text: str, annotation: object, variable: str) -> object:
    origin = typing.get_origin(annotation)
    if origin is tuple and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if origin is tuple or _is_mapping(annotation):
        try:
            return yaml.load(text, _StrictLoader)  # noqa: S506 - a SafeLoader
        except yaml.YAMLError:
            raise ConfigError(f"{variable} is {text!r}, but should be a YAML value.") from None
    return text


def _keys(model: type[BaseModel], above: str = "") -> Iterable[tuple[str, Any]]:
    for name, info in model.model_fields.items():
        key = f"{above}{info.alias or name}"
        section = _section(info.annotation)
        if section is None:
            yield key, info.annotation
        else:
            yield from _keys(section, f"{key}.")


def _section(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _is_mapping(annotation: object) -> bool:
    origin = typing.get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            merged[key] = _over(under, value)
        else:
            merged[key] = value
    return merged


def _dotted(values: Mapping[Any, Any], above: str = "") -> Iterable[str]:
    for key, value in values.items():
        yield f"{above}{key}"
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{above}{key}.")


def _dotted_location(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _ancestry(key: str) -> Iterable[str]:
    key = _IN_CONTAINER.sub("", key)
    while key:
        yield key
        key = key.rpartition(".")[0]


def _kind(value: object) -> str:
    return "list" if isinstance(value, list) else "single value"

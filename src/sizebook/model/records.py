"""What every persisted record shares: frozen, strict, unknown fields forbidden, canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer

Scalar = bool | int | float | str
"""A level of a factor or a setting: what JSON can hold without nesting."""


def _freeze(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(value))


Scalars = Annotated[
    Mapping[str, Scalar], AfterValidator(_freeze), PlainSerializer(dict, return_type=dict)
]
"""A read-only mapping from name to scalar."""

Strings = Annotated[
    Mapping[str, str], AfterValidator(_freeze), PlainSerializer(dict, return_type=dict)
]
"""A read-only mapping from name to text."""


class Record(BaseModel):
    """A frozen value that is checked when built and refuses fields that it does not know."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, arbitrary_types_allowed=False
    )

    def canonical_json(self) -> str:
        """Return one text per value: sorted keys, no spaces, so that equal records hash equal."""
        return json.dumps(
            self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), allow_nan=False
        )

"""What the bench's tests share: its programs in C."""

from __future__ import annotations

import os
import shutil

import pytest

from bench.native import Programs, compiled


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    if shutil.which(os.environ.get("CC", "cc")) is None:
        pytest.skip("no C compiler, which only the bench needs")
    return compiled(tmp_path_factory.mktemp("programs"))

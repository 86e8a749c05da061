"""Adds the configuration manual to the wheel; everything else is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

MANUAL = "config.yaml"


class BuildWithManual(build_py):
    """Copies `config.yaml`, which a checkout has in its root, to where an installation looks for it."""

    def run(self) -> None:
        """Build the packages."""
        super().run()
        if not self.editable_mode:
            self.copy_file(MANUAL, self._manual())

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """The files built."""
        return [*super().get_outputs(include_bytecode), self._manual()]

    def _manual(self) -> str:
        return str(Path(self.build_lib, "bot", "config", MANUAL))


setup(cmdclass={"build_py": BuildWithManual})

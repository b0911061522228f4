"""Only for `pip install -e .`: there the exercises can be imported too, from any folder.

A wheel has no exercises in it: they are files to edit, and they stay in the repository.
"""

from setuptools import find_packages, setup
from setuptools.command.editable_wheel import editable_wheel


class WithExercises(editable_wheel):
    """An editable install that also points at the folder exercises/."""

    def run(self):
        self.distribution.packages += find_packages(include=["exercises", "exercises.*"])
        super().run()


setup(cmdclass={"editable_wheel": WithExercises})

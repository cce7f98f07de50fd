"""The place of demos: which model answers there, and that no second demo enters."""

from dataclasses import replace
from pathlib import Path

import pytest

from carrel.config.profiles import ConfigError, folders
from carrel.store.core.problem import ProblemError
from carrel.store.demo.script import Demo
from carrel.store.demo.setting import own_place, own_profile, set_up
from support.process import RunningServer
from support.spoken import SpokenModel
from support.workbench import profile_of

DEMO = Demo.model_validate(
    {"title": "x", "steps": [{"say": "By {model}."}, {"wait": {"text": "x"}}]}
)


async def test_the_model_is_that_of_the_server_of_this_machine_and_nothing_else_is_taken() -> None:
    folders().server.mkdir(parents=True)
    settings = folders().server / "settings.toml"
    settings.write_text('model_url = "https://models.example"\ndatabase = "postgresql://x/y"\n')
    async with own_place():
        taken = (own_profile().folders.server / "settings.toml").read_text()
        assert taken == 'model_url = "https://models.example"\n'
    settings.write_text("model_url = ")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        async with own_place():
            pass
    assert not own_profile().folders.state.parent.exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("", "on this machine: nothing leaves it"),
        ('model_url = "http://127.0.0.1:11434/v1"', "on this machine: nothing leaves it"),
        (
            'model_url = ["https://models.example/v1"]',
            "at https://models.example/v1: questions and passages go there",
        ),
    ],
)
async def test_captions_say_which_model_answers_and_where(
    talking: tuple[RunningServer, SpokenModel], tmp_path: Path, settings: str, words: str
) -> None:
    profile = replace(profile_of(talking[0]), home=tmp_path)
    profile.folders.server.mkdir(parents=True)
    (profile.folders.server / "settings.toml").write_text(settings)
    async with set_up(DEMO, tmp_path, profile, print) as demo:
        assert demo.steps[0].say == f"By spoken, {words}."
        assert demo.steps[1].say is None


async def test_only_one_demo_is_played_at_a_time() -> None:
    async with own_place():
        with pytest.raises(ProblemError, match="A demo is under way"):
            async with own_place():
                pass
        assert own_profile().folders.server.exists()

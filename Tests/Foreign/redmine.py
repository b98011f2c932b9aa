"""Debian's Redmine, in a directory of its own, with a database of its own."""
import json
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
DEBIAN = pathlib.Path("/usr/share/redmine")
SETTINGS = "production:\n  adapter: sqlite3\n  database: {}\n  timeout: 20000\n"


class Redmine:
    def __init__(self, directory, database):
        self.directory = pathlib.Path(directory).resolve()
        shutil.copytree(DEBIAN, self.directory, ignore=shutil.ignore_patterns(
            "instances", "database.yml", "Gemfile.lock"))
        shutil.copy("/var/lib/redmine/Gemfile.lock", self.directory)
        instance = self.directory / "instances/default"
        for name in ("config", "files", "log", "tmp"):
            (instance / name).mkdir(parents=True)
        (instance / "config/secret_key.txt").write_text("0123456789abcdef" * 4)
        for directory in (instance / "config", self.directory / "config"):
            (directory / "database.yml").write_text(
                SETTINGS.format(pathlib.Path(database).resolve()))
        self.run("bin/rake", "db:migrate")
        self.run("bin/rake", "redmine:load_default_data")

    def run(self, *command):
        done = subprocess.run(
            command, cwd=self.directory, text=True, capture_output=True,
            env={**os.environ, "RAILS_ENV": "production", "REDMINE_LANG": "en"})
        if done.returncode:
            raise RuntimeError((done.stderr + done.stdout)[:2000])
        return done.stdout

    def ask(self, script, *arguments):
        """What a script of Ruby beside this file prints last, as JSON."""
        output = self.run("bin/rails", "runner", str(HERE / script), *arguments)
        return json.loads(output.splitlines()[-1])

from pathlib import Path

import pytest

from milepost.settings.reading import Loaded, SettingsError, load
from milepost.settings.sections import Settings, Target
from milepost.settings.values import Address, Duration, Secret


@pytest.fixture
def reader(tmp_path: Path):
    def read(text: str | None = None, named: Path | None = None, **environ: str) -> Loaded:
        if text is not None:
            (tmp_path / "milepost.toml").write_text(text)
        return load(named, environ, tmp_path)

    return read


def test_without_a_file_the_defaults_hold(reader):
    loaded = reader()
    assert loaded.settings == Settings()
    assert loaded.file is None
    assert loaded.settings.server.host == "127.0.0.1"
    assert loaded.settings.server.port == 8700
    assert loaded.settings.database.url.reveal() == "sqlite:///milepost.db"


def test_the_file_of_the_directory_is_read_and_the_environment_overrides_it(reader, tmp_path):
    loaded = reader('[server]\nport = 9000\nhost = "::1"\n', MILEPOST_SERVER__PORT="9001")
    assert (loaded.settings.server.port, loaded.settings.server.host) == (9001, "::1")
    assert loaded.origins[("server", "port")] == "MILEPOST_SERVER__PORT"
    assert loaded.origins[("server", "host")] == str(tmp_path / "milepost.toml")


def test_a_named_file_goes_before_the_environments_and_that_before_the_usual_one(reader, tmp_path):
    for name, port in (("milepost.toml", 1), ("env.toml", 2), ("named.toml", 3)):
        (tmp_path / name).write_text(f"server = {{port = {port}}}")
    assert reader().settings.server.port == 1
    assert reader(MILEPOST_SETTINGS=str(tmp_path / "env.toml")).settings.server.port == 2
    named = tmp_path / "named.toml"
    assert reader(named=named, MILEPOST_SETTINGS=str(tmp_path / "env.toml")).settings.server.port == 3


def test_the_environment_speaks_of_every_kind_of_value(reader):
    settings = reader(
        MILEPOST_DATABASE__MIGRATE="true",
        MILEPOST_DATABASE__LOCK_TIMEOUT="500ms",
        MILEPOST_STREAM__WINDOW="90",
        MILEPOST_REALTIME__MAX_MESSAGE="64KiB",
        MILEPOST_PROGRESS__MIN_PERCENT="2.5",
        MILEPOST_SERVER__ROLES="api, gateway",
        MILEPOST_SERVER__METRICS="9100",
        MILEPOST_AUTH__OIDC__ISSUER="https://id.example",
        MILEPOST_API__ALLOWED_ORIGINS='["https://a.example", "https://b.example"]',
        MILEPOST_TARGETS='[{"name": "a", "kind": "redis", "url": "redis://h"}]',
    ).settings
    assert settings.database.migrate is True
    assert settings.database.lock_timeout == 500
    assert settings.stream.window == 90_000
    assert settings.realtime.max_message == 65_536
    assert settings.progress.min_percent == 2.5
    assert settings.server.roles == ("api", "gateway")
    assert settings.server.metrics == 9100
    assert settings.auth.oidc.issuer == "https://id.example"
    assert settings.api.allowed_origins == ("https://a.example", "https://b.example")
    assert settings.targets == (Target("a", "redis", Address("redis://h")),)


def test_targets_are_tables_of_the_file(reader):
    settings = reader('[[targets]]\nname = "a"\nkind = "redis"\nurl = "redis://h"\nsecret = "s"\n').settings
    assert settings.targets[0].secret.reveal() == "s"


def test_a_secret_may_come_from_a_file(reader, tmp_path):
    (tmp_path / "key").write_text("k1:abc\n")
    loaded = reader(MILEPOST_KEYS__CURRENT_FILE=str(tmp_path / "key"))
    assert loaded.settings.keys.current.reveal() == "k1:abc"


def test_a_secret_from_two_places_at_once_is_refused(reader, tmp_path):
    with pytest.raises(SettingsError, match="both set"):
        reader(MILEPOST_KEYS__CURRENT_FILE=str(tmp_path / "key"), MILEPOST_KEYS__CURRENT="k:v")


def test_only_secrets_may_come_from_a_file(reader, tmp_path):
    with pytest.raises(SettingsError, match=r"MILEPOST_SERVER__HOST_FILE: unknown key server\.host_file"):
        reader(MILEPOST_SERVER__HOST_FILE=str(tmp_path / "key"))


def test_names_a_cluster_sets_for_a_service_called_milepost_are_left_alone(reader):
    assert reader(MILEPOST_PORT="tcp://10.0.0.1:8700", MILEPOST_SERVICE_HOST="10.0.0.1").settings == Settings()


@pytest.mark.parametrize(
    "text,says",
    [
        ("[server]\nprot = 1", "unknown key server.prot; did you mean server.port?"),
        ("[sever]\nport = 1", "unknown key sever; did you mean server?"),
        ('[databse]\nurl = "x"', "unknown key databse; did you mean database?"),
        ("[auth.oidc]\nisuer = 1", "unknown key auth.oidc.isuer; did you mean auth.oidc.issuer?"),
        ("server = 3", "server is a section, not a key"),
        ("[zzz]\nqqq = 1", "unknown key zzz"),
        ('[server]\nport = "x"', "server.port: expected a whole number, got text"),
        ("[server]\nport = 70000", "server.port: expected a whole number <= 65535"),
        ("[server]\nport = true", "server.port: expected a whole number, got true or false"),
        ("[server]\nhost = 1", "server.host: expected text, got a whole number"),
        ('[server]\nmetrics = "opne"', "server.metrics: invalid enum value 'opne'"),
        ('[database]\nlock_timeout = "soon"', "database.lock_timeout: expected a length of time such as"),
        ("[database]\nlock_timeout = true", "database.lock_timeout: expected a length of time such as"),
        ('[realtime]\nmax_message = "32KB"', "realtime.max_message: expected a size such as"),
        ("[keys]\ncurrent = 7", "keys.current: expected text"),
        ('[[targets]]\nname = "a"\nknid = "b"', "targets: object contains unknown field"),
        ("[server", "Expected ']'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_file_and_key(reader, tmp_path, text, says):
    with pytest.raises(SettingsError) as caught:
        reader(text)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'milepost.toml'}: ")
    assert says in said
    assert "\n" not in said


def test_what_is_wrong_in_the_environment_names_the_variable(reader):
    with pytest.raises(
        SettingsError, match=r"^MILEPOST_SERVER__PORT: server\.port: expected a whole number, got text$"
    ):
        reader(MILEPOST_SERVER__PORT="many")
    with pytest.raises(SettingsError, match=r"MILEPOST_SERVER__PROT: unknown key server\.prot; did you mean"):
        reader(MILEPOST_SERVER__PROT="1")


def test_a_value_is_never_repeated_in_a_complaint_about_a_secret(reader):
    with pytest.raises(SettingsError) as caught:
        reader("[keys]\ncurrent = ['hush']")
    assert "hush" not in str(caught.value)


def test_a_named_file_that_is_not_there_stops(reader, tmp_path):
    with pytest.raises(SettingsError, match=r"gone\.toml: No such file"):
        reader(named=tmp_path / "gone.toml")


def test_a_file_that_is_no_text_stops(reader, tmp_path):
    (tmp_path / "milepost.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="not UTF-8"):
        reader()


def test_an_endless_file_stops(reader):
    with pytest.raises(SettingsError, match="larger than 1 MiB"):
        reader(named=Path("/dev/zero"))


@pytest.mark.parametrize(
    "said,ms", [("500ms", 500), ("2s", 2000), ("15min", 900_000), ("72h", 259_200_000), ("3d", 259_200_000), (2, 2000)]
)
def test_lengths_of_time(said, ms):
    assert Duration.parse(said) == ms
    assert Duration.parse(str(Duration.parse(said))) == ms


def test_a_secret_shows_itself_only_when_asked():
    secret = Secret("hush")
    for shown in (str(secret), repr(secret), f"{secret}", f"{secret!r}", f"{secret:>20}", f"{[secret]}"):
        assert "hush" not in shown
    assert secret.reveal() == "hush"


def test_an_address_shows_itself_without_its_password():
    address = Address("postgresql://me:hush@db.example:5432/milepost?sslmode=require&password=hush2")
    assert "hush" not in f"{address} {address!r}"
    assert "db.example:5432/milepost?sslmode=require" in str(address)
    assert address.reveal().startswith("postgresql://me:hush@")

"""The sections of the settings file. Its keys, their defaults and what they mean are in `default.toml` beside this."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from milepost.settings.values import Address, Duration, Secret, Size

Port = Annotated[int, Meta(ge=0, le=65_535)]
Positive = Annotated[int, Meta(ge=1, le=10_000_000)]


class Server(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the service listens and how it ends. `metrics` may be a port of its own."""

    host: str = "127.0.0.1"
    port: Port = 8700
    roles: tuple[str, ...] = ("all",)
    public_url: str = ""
    metrics: Literal["credential", "open"] | Port = "credential"
    docs: Literal["credential", "open"] = "credential"
    grace: Duration = Duration(10_000)


class Logs(Struct, frozen=True, forbid_unknown_fields=True):
    """What is written to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    form: Literal["auto", "json", "text"] = "auto"
    commits: bool = True


class Database(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the truth is kept."""

    url: Address = Address("sqlite:///milepost.db")
    migrate: bool = False
    lock_timeout: Duration = Duration(2_000)


class Keys(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys that sign execution tokens."""

    current: Secret = Secret("")
    previous: Secret = Secret("")


class Oidc(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose tokens sign people in besides the service's own sessions."""

    issuer: str = ""
    audience: str = ""
    jwks_url: str = ""
    tenant_claim: str = "tenant"
    user_claim: str = "sub"
    projects_claim: str = "projects"
    roles_claim: str = "roles"


class Auth(Struct, frozen=True, forbid_unknown_fields=True):
    """Ways to sign in."""

    oidc: Oidc = Oidc()


class Progress(Struct, frozen=True, forbid_unknown_fields=True):
    """When a progress report becomes a version of its own instead of being merged."""

    min_percent: Annotated[float, Meta(ge=0, le=100)] = 5.0
    min_interval: Duration = Duration(1_000)
    max_interval: Duration = Duration(2_000)


class Stream(Struct, frozen=True, forbid_unknown_fields=True):
    """How much of the past a viewer can resume from."""

    window: Duration = Duration(72 * 3_600_000)
    max_replay: Positive = 10_000


class Realtime(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of live connections."""

    detail_limit: Positive = 20
    max_message: Size = Size(32 * 1024)
    queue: Size = Size(256 * 1024)
    heartbeat: Duration = Duration(15_000)
    per_user: Positive = 20
    per_tenant: Positive = 10_000


class Ingest(Struct, frozen=True, forbid_unknown_fields=True):
    """How reports are taken in."""

    token_ttl: Duration = Duration(15 * 60_000)
    refuse_suspect_clocks: bool = False
    rate: Annotated[int, Meta(ge=0, le=1_000_000)] = 10_000
    burst: Positive = 20_000


class Health(Struct, frozen=True, forbid_unknown_fields=True):
    """How silent executors are looked for."""

    scan_every: Duration = Duration(5_000)
    storm_percent: Annotated[int, Meta(ge=1, le=100)] = 20
    storm_least: Positive = 10


class Retention(Struct, frozen=True, forbid_unknown_fields=True):
    """What is removed after a time."""

    every: Duration = Duration(60_000)
    answers: Duration = Duration(30 * 86_400_000)


class Wakeup(Struct, frozen=True, forbid_unknown_fields=True):
    """How replicas tell each other that something was committed."""

    url: Address = Address("")


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """One place outside that is told of every commit."""

    name: str
    kind: str
    url: Address
    secret: Secret = Secret("")


class Api(Struct, frozen=True, forbid_unknown_fields=True):
    """Who may call from a browser."""

    allowed_origins: tuple[str, ...] = ()


class Definitions(Struct, frozen=True, forbid_unknown_fields=True):
    """Which task types are taken."""

    required: bool = False


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    server: Server = Server()
    logs: Logs = Logs()
    database: Database = Database()
    keys: Keys = Keys()
    auth: Auth = Auth()
    progress: Progress = Progress()
    stream: Stream = Stream()
    realtime: Realtime = Realtime()
    ingest: Ingest = Ingest()
    health: Health = Health()
    retention: Retention = Retention()
    wakeup: Wakeup = Wakeup()
    targets: tuple[Target, ...] = ()
    api: Api = Api()
    definitions: Definitions = Definitions()

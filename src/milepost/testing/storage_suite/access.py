"""Tenants, credentials, sessions, codes and the audit log."""

import asyncio
import time

from msgspec.structs import replace

from milepost.ports.access import AuditEntry, Credential, OnceCode, UserSession
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store

CREDENTIAL = Credential("c1", b"\x00\xff" * 16, "parser", TENANT, frozenset({"report", "sessions"}), "admin", 5)
SESSION = UserSession("s1", bytes(32), TENANT, "ann", frozenset({"p", "q"}), frozenset({"member", "operator"}), 5, 50)
FUTURE = 2**52


class AccessSuite(OnSite):
    """Who may."""

    async def test_a_tenant_is_made_once_with_an_empty_stream(self, store: Store) -> None:
        assert await store.access.add_tenant("beta", 1)
        assert not await store.access.add_tenant("beta", 2)
        assert await store.access.tenants() == (TENANT, "beta")
        assert await store.access.has_tenant("beta")
        assert not await store.access.has_tenant("Beta")
        assert (await store.stream_log.tops(["beta"])).windows["beta"].top == 0

    async def test_of_many_who_make_the_same_tenant_one_does(self, store: Store) -> None:
        made = await asyncio.gather(*(store.access.add_tenant("beta", 1) for _ in range(8)))
        assert sorted(made) == [False] * 7 + [True]

    async def test_a_credential_comes_back_as_it_went_in(self, store: Store) -> None:
        everywhere = replace(CREDENTIAL, credential_id="c0", tenant_id=None, rights=frozenset())
        for credential in (CREDENTIAL, everywhere):
            await store.access.add_credential(credential)
        assert await store.access.credential("c1") == CREDENTIAL
        assert await store.access.credentials() == (everywhere, CREDENTIAL)
        assert await store.access.credential("C1") is None

    async def test_a_credential_is_revoked_once_and_stays_known(self, store: Store) -> None:
        await store.access.add_credential(CREDENTIAL)
        assert await store.access.revoke_credential("c1", 9)
        assert not await store.access.revoke_credential("c1", 10)
        assert not await store.access.revoke_credential("unknown", 10)
        assert await store.access.credential("c1") == replace(CREDENTIAL, revoked_at=9)

    async def test_a_session_comes_back_as_it_went_in_and_ends_once(self, store: Store) -> None:
        await store.access.add_session(SESSION)
        assert await store.access.session("s1") == SESSION
        assert await store.access.revoke_session("s1", 9)
        assert not await store.access.revoke_session("s1", 10)
        assert await store.access.session("s1") == replace(SESSION, revoked_at=9)
        assert await store.access.session("s2") is None

    async def test_the_sessions_that_hold_are_those_of_one_user_that_neither_ended_nor_ran_out(
        self, store: Store
    ) -> None:
        ended = replace(SESSION, session_id="s2", revoked_at=9)
        others = [
            replace(SESSION, session_id="s3", user_id="bob"),
            replace(SESSION, session_id="s4", tenant_id="other"),
        ]
        second = replace(SESSION, session_id="s0")
        for session in (SESSION, ended, *others, second):
            await store.access.add_session(session)
        assert await store.access.open_sessions(TENANT, "ann", 49) == (second, SESSION)
        assert await store.access.open_sessions(TENANT, "ann", 50) == ()

    async def test_a_session_that_ran_out_cannot_be_ended(self, store: Store) -> None:
        await store.access.add_session(SESSION)
        assert not await store.access.revoke_session("s1", 50)
        assert await store.access.session("s1") == SESSION

    async def test_a_code_is_used_once_however_many_try(self, store: Store) -> None:
        await store.access.add_code(OnceCode("link", b"hash", b'{"user":"\xc3\xa9"}', FUTURE))
        taken = await asyncio.gather(*(store.access.take_code("link", b"hash", 1) for _ in range(5)))
        assert sorted(taken, key=lambda body: body is not None) == [None] * 4 + [b'{"user":"\xc3\xa9"}']

    async def test_a_code_serves_its_kind_and_its_time_only(self, store: Store) -> None:
        await store.access.add_code(OnceCode("link", b"hash", b"{}", FUTURE))
        assert await store.access.take_code("ticket", b"hash", 1) is None
        assert await store.access.take_code("link", b"hash", FUTURE) is None
        assert await store.access.take_code("link", b"hash", FUTURE - 1) == b"{}"

    async def test_codes_whose_time_is_over_do_not_pile_up(self, store: Store) -> None:
        old = OnceCode("link", b"old", b"{}", time.time_ns() // 1_000_000 - 1)
        await store.access.add_code(old)
        await store.access.add_code(OnceCode("link", b"new", b"{}", FUTURE))
        assert await store.access.take_code("link", b"old", 0) is None
        assert await store.access.take_code("link", b"new", 0) == b"{}"

    async def test_the_audit_log_takes_the_same_use_twice(self, store: Store) -> None:
        entry = AuditEntry(TENANT, "operator", "credentials.create", "c1", '{"x":1}', 5)
        await store.access.audit(entry)
        await store.access.audit(entry)

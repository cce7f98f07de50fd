"""A lease is taken, kept and given back."""

import asyncio

from carrel.local import Address, Lease
from support.process import RunningServer
from support.service import Request, reply, service

NOTHING = b"HTTP/1.1 204 X\r\nconnection: close\r\n\r\n"


async def test_a_lease_is_renewed_until_it_is_given_back() -> None:
    renewed = asyncio.Event()

    async def answer(request: Request) -> None:
        await request.write(NOTHING)
        if len(odd.requests) >= 3:
            renewed.set()

    async with service(answer) as odd, Lease(Address(odd.url, "k"), seconds=0.01):
        await asyncio.wait_for(renewed.wait(), 5)
    methods = [request.method for request in odd.requests]
    assert methods == ["PUT"] * (len(methods) - 1) + ["DELETE"]
    assert len({request.target for request in odd.requests}) == 1
    assert odd.requests[0].target.startswith("/leases/")
    assert all(request.headers["authorization"] == "Bearer k" for request in odd.requests)


async def test_every_lease_is_its_own() -> None:
    async with service(NOTHING) as odd:
        address = Address(odd.url, "k")
        async with Lease(address), Lease(address):
            pass
    assert len({request.target for request in odd.requests}) == 2


async def test_a_lost_server_does_not_end_the_holder() -> None:
    async with Lease(Address("http://127.0.0.1:1", "k"), seconds=0.01) as lease:
        await asyncio.sleep(0.05)
    await lease.stop()


async def test_a_server_that_refuses_does_not_end_the_holder() -> None:
    async with service(reply({}, 401)) as odd, Lease(Address(odd.url, "k")):
        pass
    assert [request.method for request in odd.requests] == ["PUT", "DELETE"]


async def test_the_real_server_grants_leases(server: RunningServer) -> None:
    import httpx

    lease = Lease(Address(server.url, server.api_key))
    await lease.start()
    await lease.stop()
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {server.api_key}"}) as http:
        assert (await http.put(f"{server.url}/leases/x")).status_code == 204

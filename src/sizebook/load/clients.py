"""Locust's HTTP clients, made to ask a fence before they send: they know the URL to be named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from locust.clients import HttpSession
from locust.contrib.fasthttp import FastHttpSession

from sizebook.load.fence import Fence


def guard_client(user: Any, fence: Fence) -> None:
    """Have a user's HTTP client, if it has one of Locust's, ask before each request it sends.

    Redirects are requests, too. Nor does it take proxies and passwords from its environment.
    """
    client = getattr(user, "client", None)
    if isinstance(client, HttpSession):
        client.trust_env = False
        client.send = _asking_session(fence, client.send)  # type: ignore[method-assign]
    elif isinstance(client, FastHttpSession):
        agent: Any = client.client
        agent._urlopen = _asking_agent(fence, agent._urlopen)


def _asking_session(fence: Fence, send: Callable[..., Any]) -> Callable[..., Any]:
    def asking(request: Any, **options: Any) -> Any:
        fence.check_url(request.url)
        for proxy in (options.get("proxies") or {}).values():
            if proxy:
                fence.check_url(proxy, "a request through the proxy")
        return send(request, **options)

    return asking


def _asking_agent(fence: Fence, send: Callable[..., Any]) -> Callable[..., Any]:
    def asking(request: Any) -> Any:
        fence.check_url(request.url)
        return send(request)

    return asking

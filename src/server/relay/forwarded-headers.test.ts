import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../request/http.ts";
import { forwardedAnswerHeaders, forwardedRequestHeaders, identityHeaders } from "./forwarded-headers.ts";

function requestWith(headers: Readonly<Record<string, string>>): HttpRequest {
  return {
    method: "GET",
    target: "/",
    headers: new Map(Object.entries(headers)),
    peer: undefined,
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(new Uint8Array()),
  };
}

describe("forwarded headers", () => {
  test("a request is forwarded without headers of the connection or of identity", () => {
    const kept = forwardedRequestHeaders(
      requestWith({
        accept: "application/json",
        cookie: "a=b",
        authorization: "Bearer secret",
        "impersonate-user": "root",
        "impersonate-extra-scopes": "x",
        "x-remote-user": "root",
        "x-remote-extra-a": "b",
        "x-remote-anything": "b",
        connection: "Upgrade, X-Hop",
        "x-hop": "1",
        upgrade: "websocket",
        te: "trailers",
        "transfer-encoding": "chunked",
        "content-length": "5",
        host: "server",
      }),
    );

    expect(kept).toEqual({ accept: "application/json", cookie: "a=b" });
  });

  test("a forwarded request names every sender before this server", () => {
    const names = (headers: Readonly<Record<string, string>>, remoteAddress?: string): unknown =>
      forwardedRequestHeaders({ ...requestWith(headers), remoteAddress })["x-forwarded-for"];

    expect(names({}, "192.0.2.1")).toBe("192.0.2.1");
    expect(names({ "x-forwarded-for": "198.51.100.7" }, "192.0.2.1")).toBe("198.51.100.7, 192.0.2.1");
    expect(names({})).toBeUndefined();
  });

  test("a WebSocket request is forwarded without the protocol that is a token", () => {
    const token = "base64url.bearer.authorization.k8s.io.c2VjcmV0";
    const kept = (protocols: string): unknown =>
      forwardedRequestHeaders(requestWith({ "sec-websocket-protocol": protocols }));

    expect(kept(`v5.channel.k8s.io,${token}, v4.channel.k8s.io`)).toEqual({
      "sec-websocket-protocol": "v5.channel.k8s.io, v4.channel.k8s.io",
    });
    expect(kept("a")).toEqual({ "sec-websocket-protocol": "a" });
  });

  test("identity headers carry every byte of the user", () => {
    expect(
      identityHeaders({
        name: "zoë",
        uid: "1",
        groups: ["a", "b,c"],
        extra: { "example.com/Scopes%": ["x", "y"] },
      }),
    ).toEqual({
      "x-remote-user": Buffer.from("zoë").toString("latin1"),
      "x-remote-uid": "1",
      "x-remote-group": ["a", "b,c"],
      "x-remote-extra-example.com%2Fscopes%25": ["x", "y"],
    });
  });

  test("a response is forwarded without permissions for pages of other sites", () => {
    const headers = forwardedAnswerHeaders([
      ...["Access-Control-Allow-Origin", "*", "Access-Control-Allow-Credentials", "true"],
      ...["Access-Control-Allow-Methods", "GET", "Access-Control-Allow-Headers", "Authorization"],
      ...["Content-Type", "text/plain"],
    ]);

    expect([...headers]).toEqual([["content-type", "text/plain"]]);
  });

  test("a response is forwarded without headers of its connection", () => {
    const headers = forwardedAnswerHeaders([
      "Content-Type",
      "text/plain",
      "Warning",
      "1",
      "warning",
      "2",
      "Connection",
      "close, X-Hop",
      "X-Hop",
      "1",
      "Transfer-Encoding",
      "chunked",
    ]);

    expect([...headers]).toEqual([
      ["content-type", "text/plain"],
      ["warning", "1, 2"],
    ]);
  });
});

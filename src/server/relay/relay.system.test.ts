import { once, setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { duplexPair } from "../../streams/duplex-pair.ts";
import { loop, makeAuthority, openEgressFixture, serve } from "../egress/fixture.ts";
import type { HttpRequest } from "../request/http.ts";
import { HeldBody } from "../stages/fairness/held-body.ts";
import { Relay } from "./relay.ts";

const REQUEST: HttpRequest = {
  method: "GET",
  target: "/apis/example.com/v1/things",
  headers: new Map(),
  peer: undefined,
  signal: new AbortController().signal,
  readBody: () => Promise.resolve(new Uint8Array()),
};

test("the relay closes a response and its connection as soon as the reader leaves", async () => {
  const authority = await makeAuthority("extension");
  const sockets: Socket[] = [];
  const { port } = await serve(await authority.leaf(["127.0.0.1"]), (request, response) => {
    sockets.push(request.socket);
    response.write("never the whole of it");
  });
  const { egress } = openEgressFixture();
  const address = {
    host: "127.0.0.1",
    port,
    serverName: "127.0.0.1",
    authority: `127.0.0.1:${String(port)}`,
    basePath: "",
    isTls: true,
  };
  const { body } = await new Relay({ egress, loop }).send(REQUEST, {
    address,
    origin: "configured",
    trust: { ca: authority.cert },
    user: "ann",
    method: REQUEST.method,
    target: REQUEST.target,
    headers: {},
    isWatch: false,
  });
  let seats = 1;
  const held = new HeldBody(body as AsyncIterable<Uint8Array>, () => {
    seats = 0;
  });

  const closed = sockets.map((socket) => once(socket, "close"));
  await held.return();
  await Promise.all(closed);

  expect([sockets.map(({ destroyed }) => destroyed), seats]).toEqual([[true], 0]);
});

test("the requests of one user leave room for those of others", async () => {
  const { egress } = openEgressFixture();
  const relay = new Relay({ egress, loop });
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  const silent = {
    host: "node",
    port: 0,
    serverName: "node",
    authority: "node",
    basePath: "",
    isTls: false,
    connect: () => duplexPair()[0],
  };
  const place = { address: silent, origin: "configured", trust: {}, headers: {}, isWatch: false } as const;
  const send = async (user: string): Promise<string> => {
    const request = { ...REQUEST, signal: leaving.signal };
    const { body } = await relay.send(request, { ...place, user, method: "GET", target: "/" });
    return Buffer.from(body as Uint8Array).toString();
  };

  const first = Array.from({ length: 1000 }, () => send("ann"));
  const refused = await send("ann");
  const other = send("bob");
  leaving.abort();

  expect(refused).toBe("1000 requests of the user are being handed on already\n");
  const ends = await Promise.all([...first, other]);
  expect(new Set(ends)).toEqual(new Set([expect.stringContaining("canceled")]));
  expect(await send("ann")).toContain("canceled");
});

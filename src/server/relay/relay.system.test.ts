import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
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

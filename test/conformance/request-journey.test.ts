/**
 * Counts the files of src/server that run for one create, from the socket to the watch event, and for one server-side apply. A reader
 * follows these files, so the bounds only go down.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { Session } from "node:inspector/promises";
import { expect, test } from "vitest";
import { startServer, type TestServer } from "../../src/server/transport/fixture.ts";
import { TestApi } from "../api-harness.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const FILES_OF_CREATE_MAX = 55;
const FILES_OF_APPLY_MAX = 56;

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly type: string;
  readonly body: object;
}

const create = (name: string): Asked => ({
  method: "POST",
  target: MAPS,
  type: "application/json",
  body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "b" } },
});

const apply = (name: string): Asked => ({
  method: "PATCH",
  target: `${MAPS}/${name}?fieldManager=reader`,
  type: "application/apply-patch+yaml",
  body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: name } },
});

test.each([
  { name: "create", asked: create, most: FILES_OF_CREATE_MAX },
  { name: "server-side apply", asked: apply, most: FILES_OF_APPLY_MAX },
])("a $name and its watch event run through at most $most files of the server", async ({ asked, most }) => {
  await using api = await TestApi.start();
  const client = new Client(await startServer(api.handler));
  const events = await client.watch(`${MAPS}?watch=1`);
  // Runs once before it counts: the first request of a kind also runs one-time code.
  for (const name of ["cold", "warm"]) {
    await client.send(asked(name));
    await events.next(name);
  }

  let files: readonly string[] | undefined;
  // A timer of the server may fire beside one of them.
  for (const name of ["first", "second", "third"]) {
    const found = await serverFilesOf(async () => {
      await client.send(asked(name));
      await events.next(name);
    });
    files = files?.filter((file) => found.includes(file)) ?? found;
  }
  client.close();

  expect(files?.length, files?.join("\n")).toBeLessThanOrEqual(most);
  expect(files).toContain("verbs/watch/watch-events.js");
});

class Client {
  readonly #server: TestServer;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(server: TestServer) {
    this.#server = server;
  }

  async send({ method, target, type, body }: Asked): Promise<void> {
    const { answer } = this.#open(method, target, { type, body: JSON.stringify(body) });
    const response = await answer;
    response.resume();
    await new Promise((resolve) => response.once("end", resolve));
    expect(response.statusCode).toBe(201);
  }

  async watch(target: string): Promise<{ next(name: string): Promise<void> }> {
    const response = await this.#open("GET", target).answer;
    let heard = "";
    response.on("data", (chunk: Buffer) => (heard += chunk.toString()));
    return {
      async next(name) {
        while (!heard.includes(`"name":"${name}"`)) {
          await new Promise((resolve) => response.once("data", resolve));
        }
      },
    };
  }

  close(): void {
    this.#agent.destroy();
  }

  #open(
    method: string,
    path: string,
    sent?: { readonly type: string; readonly body: string },
  ): { readonly answer: Promise<IncomingMessage> } {
    const headers = sent === undefined ? {} : { "content-type": sent.type };
    const options = { ...this.#server.client(this.#server.pki.admin), method, path, headers };
    const out = httpsRequest({ ...options, agent: this.#agent });
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      out.once("response", resolve);
      out.once("error", reject);
    });
    out.end(sent?.body);
    return { answer };
  }
}

/** Files of src/server that run a function during `work`, by path. */
async function serverFilesOf(work: () => Promise<void>): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await work();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
  return result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .filter(({ url }) => !url.endsWith("/fixture.ts"))
    .flatMap(({ url }) => /\/server\/(?<file>[\w/-]+\.[jt]s)$/.exec(url)?.groups?.["file"] ?? [])
    .toSorted();
}

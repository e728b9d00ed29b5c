import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { readFileBytes } from "../base/process/read-named-file.ts";
import { connect } from "../client/connection.ts";
import { findRunning } from "../cluster/data-dir/run-file.ts";
import { writeKubeconfig } from "../cluster/kubeconfig/kubeconfig.ts";
import { findRemedy } from "./system-error.ts";

const loop = createRealLoop({ name: "test" });

async function refusalOf(host: string, port: number): Promise<unknown> {
  const server = createServer().listen(port, host);
  return await new Promise((resolve) => server.once("error", resolve));
}

test("errors about a listen address name the address and the flag --listen", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;

  expect(findRemedy(await refusalOf("127.0.0.1", port))).toBe(
    `127.0.0.1:${String(port)} is in use already: choose another address with --listen, or stop the process that listens there`,
  );
  expect(findRemedy(await refusalOf("192.0.2.1", 0))).toBe(
    "192.0.2.1 is not an address of this machine: choose another with --listen",
  );
});

test("the error about an unknown host names the host", () => {
  // Same shape as Node.js makes it: a real lookup takes seconds without an answering name server.
  const fields = { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: "nobody.invalid" };

  expect(findRemedy(Object.assign(new Error("getaddrinfo ENOTFOUND nobody.invalid"), fields))).toBe(
    "nobody.invalid cannot be resolved: check the spelling, or give its IP address",
  );
});

test("the error about a path that cannot be created names the obstacle", () => {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-remedy-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "file"), "");
  const path = join(dir, "file", "data");
  let error: unknown;
  try {
    mkdirSync(path, { recursive: true });
  } catch (thrown) {
    error = thrown;
  }

  expect(findRemedy(error)).toBe(
    `${path} has a file where a directory is needed: choose another place, or move the file away`,
  );
});

test("errors name a file in the place of a directory, and the reverse", async () => {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-remedy-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "file");
  writeFileSync(file, "");

  expect(findRemedy(await mkdir(file, { recursive: true }).catch((error: unknown) => error))).toBe(
    `${file} exists and is not a directory: choose another place, or move it away`,
  );
  const path = join(dir, "running.json");
  mkdirSync(path);
  for (const read of [() => readFileBytes(path), () => findRunning(dir, loop)])
    expect(findRemedy(await read().catch((error: unknown) => error))).toBe(
      `${path} is a directory where a file is needed: check the path`,
    );
});

test("the error about an unwritable file shows the path that was given", async () => {
  const path = join(tmpdir(), "setpoint-nowhere", "kubeconfig");

  const options = { server: "https://127.0.0.1", ca: "", user: { cert: "", key: "" } };
  const error = await writeKubeconfig(path, options, loop).catch((thrown: unknown) => thrown);

  expect(findRemedy(error)).toBe(`${path} does not exist, or its directory does not: check the path`);
});

test("a server that does not listen is named, with the way to find the clusters of this machine", async () => {
  await using connection = await connect({ loop, text: kubeconfigOf("https://127.0.0.1:9"), retry: "none" });

  const error = await connection.client.request({ path: "/version" }).catch((thrown: unknown) => thrown);

  expect(findRemedy(error)).toBe(
    "no response from https://127.0.0.1:9: connect ECONNREFUSED 127.0.0.1:9: no cluster listens there; setpoint list shows those of this machine",
  );
});

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    clusters: [{ name: "a", cluster: { server } }],
    users: [{ name: "a", user: {} }],
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    "current-context": "a",
  });
}

test("other errors have no remedy", () => {
  expect(findRemedy(new Error("no cluster runs there"))).toBeUndefined();
  expect(findRemedy("no error at all")).toBeUndefined();
});

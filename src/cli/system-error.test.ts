import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { readNamed } from "../base/process/read-file.ts";
import { writeKubeconfig } from "../cluster/data-dir/kubeconfig.ts";
import { findRunning } from "../cluster/data-dir/run-file.ts";
import { findRemedy } from "./system-error.ts";

const loop = createRealLoop({ name: "test" });

async function refusalOf(host: string, port: number): Promise<unknown> {
  const server = createServer().listen(port, host);
  return await new Promise((resolve) => server.once("error", resolve));
}

test("an address that is taken, or not of this machine, is named with the flag that chooses another", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;

  expect(findRemedy(await refusalOf("127.0.0.1", port))).toBe(
    `127.0.0.1:${String(port)} is in use already: choose another address with --listen, or end what listens there`,
  );
  expect(findRemedy(await refusalOf("192.0.2.1", 0))).toBe(
    "192.0.2.1 is no address of this machine: choose another with --listen",
  );
});

test("a name without an address is named", () => {
  // As Node.js makes it: to ask for a name in earnest takes seconds where nobody answers.
  const fields = { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: "nobody.invalid" };

  expect(findRemedy(Object.assign(new Error("getaddrinfo ENOTFOUND nobody.invalid"), fields))).toBe(
    "nobody.invalid has no address: check how it is written, or give the address itself",
  );
});

test("a path that cannot be made is named with what is in the way", () => {
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

test("a file in the place of a directory, and a directory in that of a file, are named", async () => {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-remedy-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "file");
  writeFileSync(file, "");

  expect(findRemedy(await mkdir(file, { recursive: true }).catch((error: unknown) => error))).toBe(
    `${file} is there already, and is no directory: choose another place, or move it away`,
  );
  const path = join(dir, "running.json");
  mkdirSync(path);
  for (const read of [() => readNamed(path), () => findRunning(dir, loop)])
    expect(findRemedy(await read().catch((error: unknown) => error))).toBe(
      `${path} is a directory where a file is needed: check the path`,
    );
});

test("a file that cannot be written is named as it was asked for", async () => {
  const path = join(tmpdir(), "setpoint-nowhere", "kubeconfig");

  const options = { server: "https://127.0.0.1", ca: "", user: { cert: "", key: "" } };
  const error = await writeKubeconfig(path, options, loop).catch((thrown: unknown) => thrown);

  expect(findRemedy(error)).toBe(`${path} is not there, or its directory is not: check the path`);
});

test("other errors speak for themselves", () => {
  expect(findRemedy(new Error("no cluster runs there"))).toBeUndefined();
  expect(findRemedy("no error at all")).toBeUndefined();
});

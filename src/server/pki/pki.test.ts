import { X509Certificate, generateKeyPairSync } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { openPki, serverNames, type Pki } from "./pki.ts";

const DAY_MS = 24 * 3_600_000;
const realLoop = createRealLoop({ name: "test" });
const names = serverNames(["10.1.2.3"], "10.96.0.1");

describe("a new folder", () => {
  test("gets kubeadm's files, keys and folder for their owner only", async () => {
    const dir = folder();

    await open(dir);

    const modes = readdirSync(dir).map((file) => [
      file,
      (statSync(join(dir, file)).mode & 0o777).toString(8),
    ]);
    expect(modes).toEqual([
      ["admin.crt", "644"],
      ["admin.key", "600"],
      ["apiserver-kubelet-client.crt", "644"],
      ["apiserver-kubelet-client.key", "600"],
      ["apiserver.crt", "644"],
      ["apiserver.key", "600"],
      ["ca.crt", "644"],
      ["ca.key", "600"],
      ["controller-manager.crt", "644"],
      ["controller-manager.key", "600"],
      ["front-proxy-ca.crt", "644"],
      ["front-proxy-ca.key", "600"],
      ["front-proxy-client.crt", "644"],
      ["front-proxy-client.key", "600"],
      ["sa.key", "600"],
      ["sa.pub", "644"],
      ["scheduler.crt", "644"],
      ["scheduler.key", "600"],
    ]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test("has certificates with the names, signers and lifetimes that Kubernetes expects", async () => {
    const pki = await open(folder());

    const [ca, server, admin] = [pki.ca.cert, pki.server.cert, pki.admin.cert].map(
      (pem) => new X509Certificate(pem),
    );
    expect(ca?.subject).toBe("CN=kubernetes");
    expect(ca?.ca).toBe(true);
    expect(yearsOf(ca)).toBe(10);
    expect(yearsOf(server)).toBe(1);
    expect(server?.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(server?.subjectAltName).toBe(
      "DNS:localhost, DNS:kubernetes, DNS:kubernetes.default, DNS:kubernetes.default.svc, " +
        "DNS:kubernetes.default.svc.cluster.local, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, " +
        "IP Address:10.1.2.3, IP Address:10.96.0.1",
    );
    expect(admin?.subject).toBe("O=system:masters\nO=kubeadm:cluster-admins\nCN=kubernetes-admin");
    expect(admin?.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(new X509Certificate(pki.kubeletClient?.cert ?? "").subject).toBe(
      "CN=kube-apiserver-kubelet-client",
    );
    const components = Object.values(pki.components).map(({ cert }) => new X509Certificate(cert).subject);
    expect(components).toEqual(["CN=system:kube-controller-manager", "CN=system:kube-scheduler"]);
    expect(ca !== undefined && server?.checkIssued(ca) === true && server.verify(ca.publicKey)).toBe(true);
  });

  test("gets one set of authorities when two servers start on it at once", async () => {
    const dir = folder();

    const [one, other] = await Promise.all([open(dir), open(dir)]);

    expect(one.ca).toEqual(other.ca);
    expect(one.serviceAccount).toEqual(other.serviceAccount);
    expect(new X509Certificate(one.server.cert).verify(new X509Certificate(other.ca.cert).publicKey)).toBe(
      true,
    );
  });
});

describe("an existing folder", () => {
  test("is read and not changed", async () => {
    const dir = folder();
    const first = await open(dir);
    const before = contents(dir);

    const second = await open(dir);

    expect(second).toEqual(first);
    expect(contents(dir)).toEqual(before);
  });

  test("keeps a leaf that has 31 days left and renews one that has 29, with its key", async () => {
    const dir = folder();
    const first = await open(dir);

    const early = await open(dir, { loop: later((365 - 31) * DAY_MS) });
    const late = await open(dir, { loop: later((365 - 29) * DAY_MS) });

    expect(early).toEqual(first);
    expect(late.ca).toEqual(first.ca);
    for (const leaf of ["server", "frontProxyClient", "kubeletClient", "admin"] as const) {
      expect(late[leaf]?.key).toBe(first[leaf]?.key);
      expect(late[leaf]?.cert).not.toBe(first[leaf]?.cert);
    }
  });

  test("has its authority renewed with the same name and key, so that the old one's leaves stay valid", async () => {
    const dir = folder();
    const first = await open(dir);

    const late = await open(dir, { loop: later((3650 - 29) * DAY_MS) });

    expect(late.ca.key).toBe(first.ca.key);
    expect(late.ca.cert).not.toBe(first.ca.cert);
    expect(new X509Certificate(first.admin.cert).verify(new X509Certificate(late.ca.cert).publicKey)).toBe(
      true,
    );
  });

  test("gets a new server certificate when a name is needed that the old one lacks", async () => {
    const dir = folder();
    const first = await open(dir);

    const second = await open(dir, { names: [...names, "cluster.example", "fd00::1"] });
    const third = await open(dir);

    expect(second.server.cert).not.toBe(first.server.cert);
    expect(new X509Certificate(second.server.cert).checkHost("cluster.example")).toBe("cluster.example");
    expect(new X509Certificate(second.server.cert).checkIP("fd00::1")).toBe("fd00::1");
    expect(third.server).toEqual(second.server);
    expect(second.admin).toEqual(first.admin);
  });

  test.each([
    ["ca.crt", "ca.key"],
    ["apiserver.crt", "server.key"],
    ["sa.pub", "serviceAccount.privateKey"],
  ])("left without %s by a killed start is completed with the existing key", async (file, kept) => {
    const dir = folder();
    const first = await open(dir);
    unlinkSync(join(dir, file));

    const second = await open(dir);

    expect(readdirSync(dir)).toHaveLength(18);
    expect(second).toHaveProperty(kept, valueAt(first, kept));
  });

  test.each([
    ["RSA, as kubeadm makes it", () => generateKeyPairSync("rsa", { modulusLength: 2048 })],
    ["P-384", () => generateKeyPairSync("ec", { namedCurve: "P-384" })],
  ])("keeps an authority key that is %s", async (_kind, makeKey) => {
    const dir = folder();
    mkdirSync(dir);
    const pem = makeKey().privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(join(dir, "ca.key"), pem, { mode: 0o600 });

    const { ca, server } = await open(dir);

    expect(new X509Certificate(server.cert).verify(new X509Certificate(ca.cert).publicKey)).toBe(true);
  });

  test("without authority keys works until its certificates expire", async () => {
    const dir = folder();
    const first = await open(dir);
    for (const file of ["ca.key", "front-proxy-ca.key"]) unlinkSync(join(dir, file));

    const second = await open(dir);
    const expiring = await open(dir, { loop: later((365 - 5) * DAY_MS) });
    const expired = open(dir, { loop: later(366 * DAY_MS) });

    expect(second).toEqual({
      ...first,
      ca: { ...first.ca, key: undefined },
      frontProxyCa: { ...first.frontProxyCa, key: undefined },
    });
    expect(expiring.server).toEqual(first.server);
    await expect(expired).rejects.toThrow(
      /\.crt is expired and cannot be made because (front-proxy-)?ca\.key is not/,
    );
  });

  test("without an authority key and without a client certificate for kubelets works without it", async () => {
    const dir = folder();
    await open(dir);
    for (const file of ["ca.key", "apiserver-kubelet-client.crt"]) unlinkSync(join(dir, file));

    expect((await open(dir)).kubeletClient).toBeUndefined();
  });

  test("with the key of another authority is refused by name and not changed", async () => {
    const dir = folder();
    await open(dir);
    writeFileSync(join(dir, "ca.key"), readFileSync(join(dir, "admin.key")));
    const before = contents(dir);

    await expect(open(dir)).rejects.toThrow(`${join(dir, "ca.key")} does not belong to ca.crt`);
    expect(contents(dir)).toEqual(before);
  });

  test.each([
    ["ca.crt", "not a certificate in PEM"],
    ["ca.key", "not a private key in PEM"],
    ["apiserver.key", "not a private key in PEM"],
  ])("with a torn %s is refused by name", async (file, message) => {
    const dir = folder();
    await open(dir);
    writeFileSync(join(dir, file), "-----BEGIN");

    await expect(open(dir)).rejects.toThrow(`${join(dir, file)} is ${message}`);
  });

  test("with a public key for tokens but not its private one is refused", async () => {
    const dir = folder();
    await open(dir);
    unlinkSync(join(dir, "sa.key"));

    await expect(open(dir)).rejects.toThrow("sa.pub exists but sa.key does not");
  });

  test("gets new leaves when its authority is replaced", async () => {
    const dir = folder();
    const first = await open(dir);
    for (const file of ["ca.crt", "ca.key"]) unlinkSync(join(dir, file));

    const second = await open(dir);

    const ca = new X509Certificate(second.ca.cert);
    expect(second.ca.cert).not.toBe(first.ca.cert);
    expect(new X509Certificate(second.server.cert).verify(ca.publicKey)).toBe(true);
    expect(new X509Certificate(second.admin.cert).verify(ca.publicKey)).toBe(true);
  });
});

function open(dir: string, given: { loop?: Loop; names?: readonly string[] } = {}): Promise<Pki> {
  return openPki({ dir, names, loop: realLoop, log: silentLog, ...given });
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-pki-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return join(path, "pki");
}

/** The real loop with its clock set ahead. */
function later(ms: number): Loop {
  return {
    actor: "later",
    lane: "request",
    now: () => realLoop.now() + ms,
    elapsed: () => realLoop.elapsed(),
    timer: (...args) => realLoop.timer(...args),
    post: (...args) => realLoop.post(...args),
    outside: (...args) => realLoop.outside(...args),
    random: (...args) => realLoop.random(...args),
    inFlight: (...args) => realLoop.inFlight(...args),
    child: (...args) => realLoop.child(...args),
  };
}

function contents(dir: string): Readonly<Record<string, string>> {
  return Object.fromEntries(readdirSync(dir).map((file) => [file, readFileSync(join(dir, file), "utf8")]));
}

function yearsOf(cert: X509Certificate | undefined): number {
  const ms = Date.parse(cert?.validTo ?? "") - Date.parse(cert?.validFrom ?? "");
  return Math.round(ms / (365 * DAY_MS));
}

function valueAt(pki: Pki, path: string): string | undefined {
  const found = {
    "ca.key": pki.ca.key,
    "server.key": pki.server.key,
    "serviceAccount.privateKey": pki.serviceAccount.privateKey,
  };
  return Object.entries(found).find(([name]) => name === path)?.[1];
}

import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type SecureVersion } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { importSigner } from "../../base/keys/signing-key.ts";
import { x509 } from "../../base/keys/x509-library.ts";
import { silentLog } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { makePrivateKey } from "../pki/issuer.ts";
import type { KeyPair } from "../pki/pki-folder.ts";
import type { Pki } from "../pki/pki.ts";
import type { HttpResponse } from "../request/http.ts";
import { makeForeignPki, readAll, sendHttp2 } from "./fixture.ts";
import { listen, type Listener } from "./listener.ts";

const whoami = async ({ peer }: { readonly peer: unknown }): Promise<HttpResponse> => ({
  status: 200,
  headers: new Map(),
  body: Buffer.from(JSON.stringify(peer ?? "nobody")),
});

const realLoop = createRealLoop({ name: "peer-test" });

interface Server {
  readonly listener: Listener;
  readonly pki: Pki;
}

/** Starts a listener with a separate CA for front proxies. */
async function start(loop: Loop = realLoop): Promise<Server> {
  const pki = await makeForeignPki();
  const tls = { ...pki.server, ca: pki.ca.cert, frontProxyCa: pki.frontProxyCa.cert };
  const listener = await listen({
    loop,
    log: silentLog,
    handler: whoami,
    isUrgent: () => false,
    tls,
    host: "127.0.0.1",
    port: 0,
  });
  onTestFinished(() => listener.close({ graceMs: 0 }));
  return { listener, pki };
}

interface Visit {
  readonly who: string;
  readonly session: Buffer | undefined;
  readonly isResumed: boolean;
}

async function visit(
  { listener, pki }: Server,
  identity: KeyPair,
  { session, version }: { readonly session?: Buffer | undefined; readonly version: SecureVersion },
): Promise<Visit> {
  const socket = connect({
    port: listener.port,
    host: "127.0.0.1",
    ca: pki.ca.cert,
    ...identity,
    maxVersion: version,
    ...(session !== undefined && { session }),
  });
  let kept = session;
  // The server sends the session ticket before its first response.
  socket.on("session", (given: Buffer) => {
    kept = given;
  });
  await once(socket, "secureConnect");
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const [answer] = (await once(socket, "data")) as [Buffer];
  const isResumed = socket.isSessionReused();
  socket.destroy();
  const [, who = ""] = answer.toString().split("\r\n\r\n");
  return { who, session: kept, isResumed };
}

describe.each(["TLSv1.3", "TLSv1.2"] as const)("over %s", (version) => {
  test("a client keeps its identity when it resumes a session, and a front proxy its role", async () => {
    const server = await start();
    const admin = { user: "kubernetes-admin", groups: ["system:masters", "kubeadm:cluster-admins"] };
    const proxy = { user: "front-proxy-client", groups: [], role: "front-proxy" };

    for (const [identity, stated] of [
      [server.pki.admin, admin],
      [server.pki.frontProxyClient, proxy],
    ] as const) {
      const first = await visit(server, identity, { version });
      const second = await visit(server, identity, { version, session: first.session });

      const who = { ...stated, ...shownOf(identity) };
      expect([JSON.parse(first.who), JSON.parse(second.who), second.isResumed]).toEqual([who, who, true]);
    }
  });
});

describe("a certificate that expires while its connection is open", () => {
  /** Longer than the lifetime of any client certificate. */
  const YEARS_MS = 20 * 365 * 24 * 3_600_000;

  test.each(["admin", "frontProxyClient"] as const)("makes a stranger of its owner: %s", async (who) => {
    const clock = { aheadMs: 0 };
    const { listener, pki } = await start(withClock(clock));
    const { key, cert } = pki[who];
    const options = { ca: pki.ca.cert, key, cert };
    const socket = connect({ port: listener.port, host: "127.0.0.1", ...options });
    const session = connectHttp2(`https://127.0.0.1:${String(listener.port)}`, options);
    onTestFinished(() => {
      socket.destroy();
      session.destroy();
    });
    const askBoth = async (): Promise<readonly unknown[]> => {
      socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      const [answer] = (await once(socket, "data")) as [Buffer];
      const { body } = await sendHttp2(session);
      const texts = [answer.toString().split("\r\n\r\n")[1] ?? "", await readAll(body)];
      return texts.map((text): unknown => JSON.parse(text));
    };

    const before = await askBoth();
    clock.aheadMs = YEARS_MS;
    const after = await askBoth();

    expect(before).toMatchObject([shownOf(pki[who]), shownOf(pki[who])]);
    const stranger = { user: "", groups: [], role: "stranger" };
    expect(after).toEqual([stranger, stranger]);
  });

  function withClock(clock: { readonly aheadMs: number }): Loop {
    return {
      actor: "ahead",
      lane: "request",
      now: () => realLoop.now() + clock.aheadMs,
      elapsed: () => realLoop.elapsed(),
      timer: (...args) => realLoop.timer(...args),
      post: (...args) => realLoop.post(...args),
      outside: (...args) => realLoop.outside(...args),
      random: (...args) => realLoop.random(...args),
      inFlight: (...args) => realLoop.inFlight(...args),
      child: (...args) => realLoop.child(...args),
    };
  }
});

describe("the uid that a certificate states", () => {
  test("is the user's", async () => {
    const server = await start();
    const identity = await identityWithUids(server.pki, ["0a1b"]);

    const { who } = await visit(server, identity, { version: "TLSv1.3" });

    const shown = shownOf(identity);
    expect(JSON.parse(who)).toEqual({ user: "jane", groups: ["writers"], uid: "0a1b", ...shown });
  });

  test.each([[["0a1b", "2c3d"]], [[""]]])("makes the client a stranger when it is %j", async (uids) => {
    const server = await start();
    const identity = await identityWithUids(server.pki, uids);

    const { who } = await visit(server, identity, { version: "TLSv1.3" });

    expect(JSON.parse(who)).toEqual({ user: "", groups: [], role: "stranger" });
  });
});

/** The parts of a certificate that identify its owner. */
function shownOf({ cert }: KeyPair): { readonly fingerprint: string; readonly expiresAt: number } {
  const { fingerprint256, validTo } = new X509Certificate(cert);
  return { fingerprint: fingerprint256.replaceAll(":", "").toLowerCase(), expiresAt: Date.parse(validTo) };
}

async function identityWithUids({ ca }: Pki, uids: readonly string[]): Promise<KeyPair> {
  const { X509CertificateGenerator, X509Certificate: Certificate, PublicKey } = x509();
  const key = makePrivateKey();
  const signer = await importSigner(createPrivateKey(ca.key ?? ""));
  const made = await X509CertificateGenerator.create({
    subject: [{ O: ["writers"] }, { CN: ["jane"] }, ...uids.map((uid) => ({ "1.3.6.1.4.1.57683.2": [uid] }))],
    issuer: new Certificate(ca.cert).subjectName,
    notAfter: new Certificate(ca.cert).notAfter,
    signingAlgorithm: signer.algorithm,
    signingKey: signer.key,
    publicKey: await PublicKey.create(createPublicKey(key).export({ type: "spki", format: "der" })),
  });
  return { key, cert: made.toString("pem") };
}

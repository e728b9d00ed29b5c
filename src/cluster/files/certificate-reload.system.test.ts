import { expect, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { makeForeignPki } from "../../server/transport/fixture.ts";
import type { ListenerTls } from "../../server/transport/listener.ts";
import { LiveCertificates } from "./certificate-reload.ts";
import { keepReloaded } from "./file-reload.ts";

const MINUTE_MS = 60_000;

test("the server uses changed certificate files within a minute, if they are valid", async () => {
  const pki = await makeForeignPki();
  // A second, matching set of certificates and keys.
  const next = { server: pki.admin, ca: pki.frontProxyCa };
  const files = new Map([
    ["apiserver.crt", pki.server.cert],
    ["apiserver.key", pki.server.key],
    ["ca.crt", pki.ca.cert],
    ["front-proxy-ca.crt", pki.frontProxyCa.cert],
    ["front-proxy-client.crt", pki.frontProxyClient.cert],
    ["front-proxy-client.key", pki.frontProxyClient.key],
    ["apiserver-kubelet-client.crt", pki.kubeletClient?.cert ?? ""],
    ["apiserver-kubelet-client.key", pki.kubeletClient?.key ?? ""],
  ]);
  const loop = new VirtualLoop({ seed: 1 });
  const certificates = new LiveCertificates(pki);
  const used: ListenerTls[] = [];
  const read = (name: string): Promise<string> => Promise.resolve(files.get(name) ?? "");
  const file = certificates.file("/pki", read, (tls) => used.push(tls));
  const surroundings = { loop, log: silentLog, metrics: createMetrics() };
  void keepReloaded(file, surroundings, new AbortController().signal);

  await loop.advance(2 * MINUTE_MS);
  expect(used).toEqual([]);

  files.set("ca.crt", "nonsense");
  await loop.advance(MINUTE_MS);
  expect(used).toEqual([]);

  files
    .set("ca.crt", next.ca.cert)
    .set("apiserver.crt", next.server.cert)
    .set("apiserver.key", next.server.key);
  await loop.advance(MINUTE_MS);
  expect(used).toEqual([{ ...next.server, ca: next.ca.cert, frontProxyCa: pki.frontProxyCa.cert }]);
  expect(certificates.tls).toEqual(used[0]);
  expect(certificates.requestHeaderTrust([])()).toMatchObject({ clientCa: next.ca.cert });
});

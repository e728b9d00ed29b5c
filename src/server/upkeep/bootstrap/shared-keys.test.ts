import { expect, test } from "vitest";
import { silentLog } from "../../../base/log/log.ts";
import { createRealLoop } from "../../../base/loop/real/real-loop.ts";
import { loadIssuer, makePrivateKey } from "../../pki/issuer.ts";
import { makeTokenKeys } from "../../pki/token-keys.ts";
import { SharedStoreFixture } from "../shared-store-fixture.ts";
import type { RequestHeaderTrust } from "./extension-authentication.ts";

const issuer = loadIssuer(createRealLoop({ name: "test" }));

function vouching(clientCa: string): () => RequestHeaderTrust {
  return () => ({ clientCa, frontProxyCa: clientCa, frontProxyNames: [] });
}

/** Warnings of a second server at its start, after a first one with the given keys. */
async function warningsOf(
  first: { readonly ca: string; readonly keys: ReturnType<typeof makeTokenKeys> },
  second: typeof first,
): Promise<readonly string[]> {
  const world = new SharedStoreFixture();
  const shared = { isStoreShared: true };
  const one = await world.startRunning({
    ...shared,
    hostname: "one",
    tokenKeys: first.keys,
    requestHeaderTrust: vouching(first.ca),
  });
  await world.loop.advance(1000);
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (text: string) => warnings.push(text) };
  await world.start({
    ...shared,
    hostname: "two",
    tokenKeys: second.keys,
    requestHeaderTrust: vouching(second.ca),
    log,
  });
  await one.end();
  return warnings;
}

test("a server with other keys than the cluster warns at its start and names the remedy", async () => {
  const first = { ca: await issuer.authority("one", makePrivateKey()), keys: makeTokenKeys() };
  const second = { ca: await issuer.authority("one", makePrivateKey()), keys: makeTokenKeys() };

  expect(await warningsOf(first, second)).toEqual([
    "this cluster has another certificate authority than this server: give every server of the cluster the same --pki-dir",
    "tokens of service accounts that another server signs are refused by this one: give every server of the cluster the same --pki-dir",
  ]);
});

test("a server with the cluster's keys does not warn, also after the authority's certificate was renewed", async () => {
  const key = makePrivateKey();
  const cert = await issuer.authority("one", key);
  const renewed = await issuer.renewedAuthority({ cert, key });
  const keys = makeTokenKeys();

  expect(await warningsOf({ ca: cert, keys }, { ca: renewed, keys })).toEqual([]);
});

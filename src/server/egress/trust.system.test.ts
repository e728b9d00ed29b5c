/** A bundle of certificates trusts the same servers as in Go's crypto/x509. */
import { describe, expect, test } from "vitest";
import { certify } from "./certificate-fixture.ts";
import type { TestCertificate } from "./certificate-fixture.ts";
import { openEgressFixture, serve } from "./fixture.ts";

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const names = ["localhost", "127.0.0.1"];

/** "ok", or the reason why the server is not trusted. */
async function judged(
  server: { readonly pair: TestCertificate; readonly chain?: readonly TestCertificate[] },
  bundle: readonly TestCertificate[],
): Promise<string> {
  const cert = [server.pair, ...(server.chain ?? [])].map((each) => each.cert).join("");
  const { port } = await serve({ key: server.pair.key, cert }, (_request, response) => response.end("ok"));
  const call = openEgressFixture().egress.call({
    target: { type: "url", url: `https://localhost:${String(port)}/` },
    trust: { ca: bundle.map((each) => each.cert).join("") },
    method: "GET",
    path: "",
    headers: {},
    body: undefined,
    timeoutMs: 10_000,
    replyBytesMax: 1000,
    signal: new AbortController().signal,
  });
  return call.then(
    ({ body }) => Buffer.from(body).toString(),
    (error: unknown) => (error as Error).message.replace(/^.*x509: /, ""),
  );
}

const authority = (): Promise<TestCertificate> => certify({ commonName: "root", isAuthority: true });

describe("a bundle", () => {
  test("with the server's own certificate, signed by an authority outside the bundle, trusts it", async () => {
    const pair = await certify({ commonName: "server", signer: await authority(), names });

    expect(await judged({ pair }, [pair])).toBe("ok");
  });

  test("with the server's own self-signed certificate trusts it", async () => {
    const pair = await certify({ commonName: "server", names });

    expect(await judged({ pair }, [pair])).toBe("ok");
  });

  test("with an intermediate authority trusts the certificates that it signed", async () => {
    const between = await certify({ commonName: "between", signer: await authority(), isAuthority: true });
    const pair = await certify({ commonName: "server", signer: between, names });

    expect(await judged({ pair }, [between])).toBe("ok");
    expect(await judged({ pair, chain: [between] }, [between])).toBe("ok");
  });

  test("with a server's certificate trusts no other server, not even one that this server signed", async () => {
    const root = await authority();
    const leaf = await certify({ commonName: "server", signer: root, names });
    const sibling = await certify({ commonName: "server", signer: root, names });
    const forged = await certify({ commonName: "other", signer: leaf, names });

    expect(await judged({ pair: sibling }, [leaf])).toBe("certificate signed by unknown authority");
    expect(await judged({ pair: forged, chain: [leaf] }, [leaf])).not.toBe("ok");
  });

  test("does not trust a certificate that has expired, is for clients, or for another name", async () => {
    const signer = await authority();
    const expired = await certify({ commonName: "server", signer, names, isExpired: true });
    const client = await certify({ commonName: "server", signer, names, purposes: [CLIENT_AUTH] });
    const other = await certify({ commonName: "localhost", signer, names: ["other.example"] });

    expect(await judged({ pair: expired }, [expired])).toBe("certificate has expired or is not yet valid");
    expect(await judged({ pair: client }, [client])).toBe("certificate specifies an incompatible key usage");
    expect(await judged({ pair: other }, [other])).toBe(
      "certificate is valid for other.example, not localhost",
    );
  });

  test("does not trust a name that only the subject contains", async () => {
    const pair = await certify({ commonName: "localhost" });

    expect(await judged({ pair }, [pair])).toBe(
      "certificate relies on legacy Common Name field, use SANs instead",
    );
  });

  test("limits an intermediate authority to the names that it may sign", async () => {
    const signer = await authority();
    const between = await certify({ commonName: "between", signer, isAuthority: true, domain: "example" });
    const pair = await certify({ commonName: "server", signer: between, names: ["localhost"] });

    expect(await judged({ pair }, [between])).not.toBe("ok");
  });
});

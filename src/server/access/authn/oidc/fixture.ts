/** An OpenID Connect issuer for tests, over HTTPS and with rotating keys. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { createServer } from "node:https";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../../../api/json/json-object.ts";
import { createRealLoop } from "../../../../base/loop/real/real-loop.ts";
import { loadIssuer, makePrivateKey } from "../../../pki/issuer.ts";
import { signToken } from "../fixture.ts";

export class TestIssuer implements AsyncDisposable {
  readonly ca: string;
  /** Number of requests for its keys. */
  asked = 0;
  /** Issuer name in its configuration, if it differs from its URL. */
  claimed: string | undefined;
  /** Redirects requests for its configuration to this URL. */
  redirect: string | undefined;
  readonly #server: Server;
  #keys: readonly { readonly id: string; readonly key: KeyObject }[] = [];

  private constructor(server: Server, ca: string) {
    this.#server = server;
    this.ca = ca;
    this.rotate("first");
  }

  static async start(): Promise<TestIssuer> {
    const make = loadIssuer(createRealLoop({ name: "issuer" }));
    const authority = { key: makePrivateKey(), cert: "" };
    authority.cert = await make.authority("issuer-ca", authority.key);
    const key = makePrivateKey();
    const subject = { commonName: "issuer", organizations: [] };
    const cert = await make.leaf({ subject, key, usage: "server", names: ["127.0.0.1"], authority });
    const server = createServer({ key, cert });
    const issuer = new TestIssuer(server, authority.cert);
    server.on("request", (request, response) => {
      if (issuer.redirect !== undefined) {
        response.writeHead(302, { location: issuer.redirect }).end();
        return;
      }
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(issuer.#answer(request.url ?? "")));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    return issuer;
  }

  get url(): string {
    return `https://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** Replaces the keys by one new key with this ID. */
  rotate(id: string): void {
    this.#keys = [{ id, key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey }];
  }

  /** A valid token for the audience `me`; `claims` overrides the defaults. */
  token(claims: JsonObject = {}, header: JsonObject = {}): string {
    const [{ id, key } = { id: "", key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey }] =
      this.#keys;
    const seconds = Math.floor(createRealLoop({ name: "clock" }).now() / 1000);
    const usual = { iss: this.url, aud: "me", sub: "alice", iat: seconds, exp: seconds + 300 };
    return signToken({ alg: "ES256", kid: id, ...header }, { ...usual, ...claims }, { type: "key", key });
  }

  get publicKeys(): readonly KeyObject[] {
    return this.#keys.map(({ key }) => createPublicKey(key));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #answer(path: string): object {
    if (path === "/.well-known/openid-configuration")
      return { issuer: this.claimed ?? this.url, jwks_uri: `${this.url}/keys` };
    this.asked += 1;
    const keys = this.#keys.map(({ id, key }) => ({
      ...createPublicKey(key).export({ format: "jwk" }),
      kid: id,
      use: "sig",
      alg: "ES256",
    }));
    return { keys };
  }
}

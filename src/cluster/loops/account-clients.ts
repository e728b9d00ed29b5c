/**
 * Gives each loop a client that acts as the service account of its upstream controller. The user of the kubeconfig
 * needs no right but to request these accounts' tokens.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import type { TokenRequest } from "../../api/generated/types/authentication-v1.ts";
import { ServiceAccount } from "../../api/generated/types/core-v1.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { createClient } from "../../client/api-client.ts";
import type { Client } from "../../client/client.ts";
import type { Endpoint } from "../../client/endpoint.ts";
import { httpTransport } from "../../client/http-transport.ts";
import type { Transport } from "../../client/transport.ts";
import { actorIdentity } from "./loop-identities.ts";

const NAMESPACE = "kube-system";
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:`;
const LIFETIME_SECONDS = 3600;
/** Share of a token's lifetime after which it is replaced. */
const GOOD_SHARE = 0.8;

interface Parts {
  /** Client of the user who requests the tokens. Loops without an account use it too. */
  readonly client: Client;
  readonly endpoint: Endpoint;
  readonly loop: Loop;
  readonly userAgent: string;
}

export class AccountClients {
  readonly #parts: Parts;
  readonly #transports: Transport[] = [];
  readonly #clients = new Map<string, Client>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The first request gets the token, not this call. */
  clientAs(actor: string): Client {
    const { user } = actorIdentity("controllers", actor);
    if (!user.startsWith(ACCOUNT)) return this.#parts.client;
    const name = user.slice(ACCOUNT.length);
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const { endpoint, loop, userAgent } = this.#parts;
    const token = new AccountToken(name, this.#parts);
    const transport = httpTransport({
      ...endpoint,
      loop,
      user: { tokenSource: (refused) => token.read(refused) },
    });
    const client = createClient(transport, { loop, userAgent });
    this.#transports.push(transport);
    this.#clients.set(name, client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }
}

class AccountToken {
  readonly #name: string;
  readonly #parts: Parts;
  #known: { readonly token: Promise<string>; readonly until: number } | undefined;

  constructor(name: string, parts: Parts) {
    this.#name = name;
    this.#parts = parts;
  }

  /** A valid token, and never the refused one. */
  async read(refused: string | undefined): Promise<string> {
    const now = this.#parts.loop.elapsed();
    const known = this.#known;
    if (known !== undefined && known.until > now && (await known.token) !== refused) return known.token;
    const token = this.#request();
    const asked = { token, until: now + LIFETIME_SECONDS * 1000 * GOOD_SHARE };
    this.#known = asked;
    token.catch(() => {
      if (this.#known === asked) this.#known = undefined;
    });
    return token;
  }

  async #request(): Promise<string> {
    const place = { namespace: NAMESPACE, name: this.#name };
    const accounts = this.#parts.client(ServiceAccount);
    const body = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: [], expirationSeconds: LIFETIME_SECONDS },
    };
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await accounts.subresource("token").create(place, body);
        return (answer as TokenRequest).status.token;
      } catch (error) {
        if (attempt > 1 || !isApiError(error, "NotFound")) throw error;
      }
      await accounts.create({ metadata: place }).catch((error: unknown) => {
        if (!isApiError(error, "AlreadyExists")) throw error;
      });
    }
  }
}

/**
 * Delegates authentication and authorization of the kubelet's API to the API server, by TokenReviews and
 * SubjectAccessReviews. Answers are cached for upstream's times.
 */
import { createHash } from "node:crypto";
import type { TokenReviewStatus } from "../../api/generated/types/authentication-v1.ts";
import type { SubjectAccessReviewStatus } from "../../api/generated/types/authorization-v1.ts";
import { DecisionCache } from "../../base/collections/decision-cache.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Client } from "../../client/client.ts";
import type { NeededRights } from "./kubelet-route.ts";

/** A client of the kubelet's API. */
export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Defaults of the kubelet's configuration. */
const TOKEN_MS = 120_000;
const ALLOWED_MS = 300_000;
const DENIED_MS = 30_000;
/** A rejected token may become valid soon, for example with its service account. */
const REJECTED_MS = 10_000;

interface CallerReviewsParts {
  /** Client with the right to create reviews. */
  readonly client: Client;
  readonly loop: Loop;
}

export class CallerReviews {
  readonly #parts: CallerReviewsParts;
  readonly #tokens = new DecisionCache<{ readonly caller: Caller | undefined }>();
  readonly #rights = new DecisionCache<boolean>();

  constructor(parts: CallerReviewsParts) {
    this.#parts = parts;
  }

  /** The user of a bearer token; undefined when the API server rejects it. Throws when the review fails. */
  async findCaller(token: string): Promise<Caller | undefined> {
    const { client, loop } = this.#parts;
    // A hash, so that a dump of the memory holds no token for longer than its request.
    const question = createHash("sha256").update(token).digest("base64");
    const known = this.#tokens.find(question, loop.now());
    if (known !== undefined) return known.caller;
    const review = await client.request({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/tokenreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } },
    });
    const caller = callerOf((review as { readonly status: TokenReviewStatus }).status);
    const keptMs = caller === undefined ? REJECTED_MS : TOKEN_MS;
    this.#tokens.keep(question, { caller }, loop.now() + keptMs);
    return caller;
  }

  /** Whether the caller may use one of the subresources of the node. Throws when the review fails. */
  async isAllowed(caller: Caller, node: string, { verb, subresources }: NeededRights): Promise<boolean> {
    for (const subresource of subresources) {
      if (await this.#isAllowed(caller, { verb, version: "v1", resource: "nodes", subresource, name: node }))
        return true;
    }
    return false;
  }

  async #isAllowed(caller: Caller, resourceAttributes: Readonly<Record<string, string>>): Promise<boolean> {
    const { client, loop } = this.#parts;
    const { name: user, groups, uid, extra } = caller;
    const spec = { user, groups, uid, extra, resourceAttributes };
    const question = JSON.stringify(spec);
    const known = this.#rights.find(question, loop.now());
    if (known !== undefined) return known;
    const review = await client.request({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec },
    });
    const { allowed, denied } = (review as { readonly status: SubjectAccessReviewStatus }).status;
    const isAllowed = allowed && denied !== true;
    this.#rights.keep(question, isAllowed, loop.now() + (isAllowed ? ALLOWED_MS : DENIED_MS));
    return isAllowed;
  }
}

function callerOf({ authenticated, user }: TokenReviewStatus): Caller | undefined {
  if (authenticated !== true) return undefined;
  const { username = "", groups = [], uid, extra } = user;
  return { name: username, groups, ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra }) };
}

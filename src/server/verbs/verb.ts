/** The contract of a verb: the call it answers and the parts of the server it works with. */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Store } from "../../store/store.ts";
import type { BearerTokens } from "../access/authn/bearer-tokens.ts";
import type { TokenIssuer } from "../access/authn/token-issuer.ts";
import type { Authorizer } from "../access/authz/authorizer.ts";
import type { Admission } from "../admission/admission.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import type { Registry, Resource, StoredResource } from "../objects/registry.ts";
import type { Versions } from "../objects/versions.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import type { Pace } from "../request/pace.ts";
import type { RequestTally } from "../request/request-counts.ts";
import type { Companions } from "../write/companions/companion.ts";
import type { Author, Journal } from "../write/journal.ts";
import type { Writer } from "../write/write-purpose.ts";
import type { UsageSource } from "./metrics-api/usage-source.ts";
import type { OpenSelectors } from "./watch/open-selectors.ts";

/** What verbs work with. */
export interface Workshop {
  readonly loop: Loop;
  readonly log: Log;
  readonly store: Store;
  /** Keys under a prefix whose values cannot be read, as far as they were come upon. */
  readonly unreadable: (prefix: string) => readonly string[];
  /** To be awaited before all objects of a resource are looked at in one step; undefined when they were read before. */
  readonly readyToList: (prefix: string) => Promise<void> | undefined;
  readonly registry: Registry;
  readonly versions: Versions;
  /** Makes the tokens of service accounts. */
  readonly tokens: TokenIssuer;
  /** Who the bearer of a token is. */
  readonly bearers: BearerTokens;
  /** Who may do what, for those who ask on behalf of others. */
  readonly authorizer: Authorizer;
  /** How the server calls others. */
  readonly egress: OpenEgress;
  /** The plugins that each write passes. */
  readonly admission: Admission;
  /** What is written together with objects of some resources. */
  readonly companions: Companions;
  /** Without one, nothing is told of what pods and nodes use. */
  readonly usage?: UsageSource;
  readonly journal: Journal;
  /** Requests under way. */
  readonly tally: RequestTally;
  /** What open watches are about. */
  readonly selectors: OpenSelectors;
  /** In whose name it is written: of each request its own, else the server's. */
  readonly author: Author;
  /** On whose behalf, of each request its own: a full store leaves some room to the cluster. */
  readonly writer: Writer;
  /** Ends long steps of the write. Each request has its own. */
  readonly pace: Pace;
}

/** Answers at once when nothing has to be waited for. */
export type Verb<R extends Resource = StoredResource> = (
  call: Call<R>,
  workshop: Workshop,
) => Answer | Promise<Answer>;

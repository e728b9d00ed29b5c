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
import type { SelectionIndexes } from "../objects/selection/selection-indexes.ts";
import type { Versions } from "../objects/versions.ts";
import type { Answer } from "../request/answer.ts";
import type { RequestCounts } from "../request/request-counts.ts";
import type { Companion } from "../write/companions/companion.ts";
import type { Journal } from "../write/journal.ts";
import type { WriteCall } from "../write/write-call.ts";
import type { UsageSource } from "./metrics-api/usage-source.ts";
import type { ListCounts } from "./read/list-counts.ts";
import type { OpenSelectors } from "./watch/open-selectors.ts";

/** Parts of the server that verbs work with. */
export interface VerbParts {
  readonly loop: Loop;
  readonly log: Log;
  readonly store: Store;
  /** Keys under a prefix with unreadable values. Lists only values that the server has tried to read. */
  readonly unreadable: (prefix: string) => readonly string[];
  /** Resolves once all objects of a resource are decoded, before one step looks at all of them. Undefined when they already are. */
  readonly readyToList: (prefix: string) => Promise<void> | undefined;
  /** Finds the objects that selectors pick. */
  readonly indexes: SelectionIndexes;
  readonly listCounts: ListCounts;
  readonly registry: Registry;
  readonly versions: Versions;
  /** Issuer of service account tokens. */
  readonly tokens: TokenIssuer;
  /** Finds the user that a bearer token stands for. */
  readonly bearers: BearerTokens;
  /** Decides about access, for reviews that ask on behalf of other users. */
  readonly authorizer: Authorizer;
  /** Opens the connections of the server to other servers. */
  readonly egress: OpenEgress;
  /** Plugins that each write passes. */
  readonly admission: Admission;
  /** Writes that belong in one transaction with objects of some resources, in the order in which they are planned. */
  readonly companions: readonly Companion[];
  /** Without one, the server does not serve `metrics.k8s.io`. */
  readonly usage?: UsageSource;
  readonly journal: Journal;
  /** Counts the requests in flight. */
  readonly tally: RequestCounts;
  /** Long selectors of the open watches. */
  readonly selectors: OpenSelectors;
}

/** Answers synchronously when there is nothing to wait for. */
export type Verb<R extends Resource = StoredResource> = (
  call: WriteCall<R>,
  verbParts: VerbParts,
) => Answer | Promise<Answer>;

/** The contract of a verb: the call that it answers and the parts of the server that it works with. */
import type { Registry, Resource, StoredResource } from "../objects/registry.ts";
import type { Answer } from "../request/answer.ts";
import type { RequestCounts } from "../request/request-counts.ts";
import type { WriteCall } from "../write/write-call.ts";
import type { CausesParts } from "./causes-api/causes-verbs.ts";
import type { MetricsParts } from "./metrics-api/metrics-verbs.ts";
import type { ReadParts } from "./read/list.ts";
import type { TokenParts } from "./subresources/token.ts";
import type { TokenReviewParts } from "./virtual/token-review.ts";
import type { WatchParts } from "./watch/open-watch.ts";
import type { WriteParts } from "./writing.ts";

/** Parts of all verbs together. Each verb declares those that it uses beside itself. */
export interface VerbParts
  extends WriteParts, ReadParts, WatchParts, TokenParts, TokenReviewParts, MetricsParts, CausesParts {
  readonly admission: WriteParts["admission"];
  readonly registry: Registry;
  /** Counts the requests in flight. */
  readonly tally: RequestCounts;
}

/** Answers synchronously when there is nothing to wait for. */
export type Verb<R extends Resource = StoredResource> = (
  call: WriteCall<R>,
  verbParts: VerbParts,
) => Answer | Promise<Answer>;

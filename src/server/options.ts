/** Options of an API server. Each is declared and explained in the room that reads it. */
import type { AuthenticationOptions } from "./access/authn/create-authentication.ts";
import type { TokenKeySource } from "./access/authn/token-issuer.ts";
import type { AuthorizationOptions } from "./access/authz/authorization-options.ts";
import type { AdmissionOptions } from "./admission/plugins.ts";
import type { AggregationOptions } from "./aggregation/create-aggregation.ts";
import type { NodeOptions } from "./nodes/node-options.ts";
import type { Encryption } from "./objects/encryption/encryption.ts";
import type { ServedVersions } from "./objects/registry.ts";
import type { AuditTrail } from "./stages/audit/audit-trail.ts";
import type { FairnessOptions } from "./stages/fairness/create-fairness.ts";
import type { UpkeepOptions } from "./upkeep/create-upkeep.ts";
import type { OwnUsage } from "./verbs/metrics-api/usage-source.ts";
import type { NetworkOptions } from "./write/companions/network-options.ts";
import type { JournalLimits } from "./write/journal.ts";

export interface ServerOptions {
  readonly tokenKeys: TokenKeySource;
  readonly authentication?: AuthenticationOptions | undefined;
  readonly authorization?: AuthorizationOptions | undefined;
  readonly admission?: AdmissionOptions | undefined;
  readonly fairness?: FairnessOptions | undefined;
  /** Audit log; none by default. */
  readonly audit?: AuditTrail | undefined;
  readonly aggregation?: AggregationOptions | undefined;
  readonly network?: NetworkOptions | undefined;
  readonly nodes?: NodeOptions | undefined;
  /** Without it, the server does not serve `metrics.k8s.io`. Kubelets are asked for the usage of other nodes. */
  readonly usage?: OwnUsage | undefined;
  /** Encryption at rest; none by default. */
  readonly encryption?: Encryption | undefined;
  /** Limits of the journal of writes. Default: 20,000 writes, 16 MiB. */
  readonly journal?: JournalLimits | undefined;
  readonly isServed?: ServedVersions | undefined;
  readonly upkeep?: UpkeepOptions | undefined;
}

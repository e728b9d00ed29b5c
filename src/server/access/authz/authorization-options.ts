/** Who is asked whether somebody may do something, in order. */
import type { ClientPair } from "../../egress/egress.ts";

export type AuthorizerOptions =
  | { readonly type: "Node" }
  | { readonly type: "RBAC" }
  | { readonly type: "AlwaysAllow" }
  | { readonly type: "AlwaysDeny" }
  | ({ readonly type: "Webhook" } & WebhookOptions);

export interface WebhookOptions {
  /** In messages. */
  readonly name: string;
  readonly url: string;
  /** PEM; without one, the authorities that this machine trusts. */
  readonly ca: string | undefined;
  /** A certificate by which the server says who it is. */
  readonly pair: ClientPair | undefined;
  /** By which the server says who it is, such as `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly version: "v1" | "v1beta1";
  readonly timeoutMs: number;
  /** For how long an answer is remembered; 0 is not at all. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  /** What no answer means. */
  readonly onFailure: "no opinion" | "denied";
  /** Expressions in CEL: it is asked only when all of them are true. */
  readonly matchConditions: readonly string[];
}

/** As kube-apiserver's behind kubeadm. */
export const DEFAULT_AUTHORIZERS: readonly AuthorizerOptions[] = [{ type: "Node" }, { type: "RBAC" }];

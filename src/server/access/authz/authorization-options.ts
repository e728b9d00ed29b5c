/** The options of authorization. */
import type { ClientPair } from "../../egress/egress.ts";

export type AuthorizerOptions =
  | { readonly type: "Node" }
  | { readonly type: "RBAC" }
  | { readonly type: "AlwaysAllow" }
  | { readonly type: "AlwaysDeny" }
  | ({ readonly type: "Webhook" } & WebhookOptions);

export interface WebhookOptions {
  /** Name of the webhook in error messages. */
  readonly name: string;
  readonly url: string;
  /** PEM. Default: the authorities that this machine trusts. */
  readonly ca: string | undefined;
  /** Client certificate of the server. */
  readonly pair: ClientPair | undefined;
  /** Headers with the server's credentials, such as `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly version: "v1" | "v1beta1";
  readonly timeoutMs: number;
  /** Lifetime of a cached answer in milliseconds; 0 disables the cache. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  /** Decision when the webhook fails. */
  readonly onFailure: "no opinion" | "denied";
  /** CEL expressions: the webhook is called only if all of them are true. */
  readonly matchConditions: readonly string[];
}

/** The authorizers, in the order in which they are asked. Default: Node and RBAC. */
export type AuthorizationOptions = readonly AuthorizerOptions[];

/** kube-apiserver's authorizers in a kubeadm cluster. */
export const DEFAULT_AUTHORIZERS: AuthorizationOptions = [{ type: "Node" }, { type: "RBAC" }];

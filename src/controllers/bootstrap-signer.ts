/**
 * Signs the `cluster-info` ConfigMap, so that a machine with a bootstrap token can verify it before joining.
 *
 * Reads the ConfigMap `cluster-info` in kube-public, which is world-readable, and the token Secrets in kube-system. Keeps one signature of
 * the kubeconfig per valid signing token in the ConfigMap.
 */
import { createHmac } from "node:crypto";
import type { ObjectKey } from "../api/api-object.ts";
import { ConfigMap, Secret } from "../api/generated/types/core-v1.ts";
import { jsonEqual } from "../api/patch/json-equal.ts";
import { defineController, watching } from "../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../runtime/controller/controller.ts";
import { findExpiry, isToken } from "./bootstrap-token-cleaner.ts";

export const bootstrapSignerController = defineController({
  name: "bootstrap-signer-controller",
  for: ConfigMap,
  when: ({ after }) => after !== undefined && isInfo(after),
  watches: [
    watching(Secret, ({ before, after }) => {
      const isOfToken = [before, after].some((secret) => secret !== undefined && isToken(secret));
      return isOfToken ? [INFO] : [];
    }),
  ],
  reconcile,
});

const INFO: ObjectKey & { readonly namespace: string } = { namespace: "kube-public", name: "cluster-info" };
const SIGNATURE = "jws-kubeconfig-";
const TOKEN_NAME = /^bootstrap-token-([a-z0-9]{6})$/;

async function reconcile(info: ConfigMap, { cache, client, clock }: ReconcileContext): Promise<Outcome> {
  if (!isInfo(info)) return;
  const secrets = cache(Secret).list({ namespace: "kube-system" });
  const data = signedData(info.data ?? {}, secrets, clock.now());
  if (!jsonEqual(data, info.data ?? {})) await client(ConfigMap).update({ ...info, data });
}

function isInfo({ metadata }: ConfigMap): boolean {
  return metadata.namespace === INFO.namespace && metadata.name === INFO.name;
}

type Texts = Readonly<Record<string, string>>;

/** Removes signatures of deleted tokens. Without a kubeconfig the data stays unchanged. */
export function signedData(data: Texts, secrets: readonly Secret[], now: number): Texts {
  const { kubeconfig } = data;
  if (kubeconfig === undefined) return data;
  const others = Object.entries(data).filter(([name]) => !name.startsWith(SIGNATURE));
  const signatures = secrets.flatMap((secret) => {
    const token = findToken(secret, now);
    return token === undefined ? [] : [[`${SIGNATURE}${token.id}`, detachedSignature(kubeconfig, token)]];
  });
  return Object.fromEntries([...others, ...signatures]) as Texts;
}

interface Token {
  readonly id: string;
  readonly secret: string;
}

/** Undefined if the token is invalid, has expired or is not meant for signing. */
function findToken(secret: Secret, now: number): Token | undefined {
  const text = (name: string): string => Buffer.from(secret.data?.[name] ?? "", "base64").toString();
  const [, id] = TOKEN_NAME.exec(secret.metadata.name) ?? [];
  const token = { id: text("token-id"), secret: text("token-secret") };
  if (!isToken(secret) || token.id !== id || token.secret === "") return undefined;
  const isOver = (findExpiry(secret) ?? Infinity) < now;
  return isOver || text("usage-bootstrap-signing") !== "true" ? undefined : token;
}

/** JSON Web Signature with detached content (RFC 7515, appendix F): the reader already has the content. */
function detachedSignature(content: string, { id, secret }: Token): string {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: id })).toString("base64url");
  const body = Buffer.from(content).toString("base64url");
  return `${header}..${createHmac("sha256", secret).update(`${header}.${body}`).digest("base64url")}`;
}

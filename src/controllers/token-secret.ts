/**
 * Fills the Secrets that give a ServiceAccount a long-lived token.
 *
 * Reads Secrets of type `kubernetes.io/service-account-token` and ServiceAccounts. Fills in token, namespace, CA certificate and account
 * uid; deletes a Secret whose account no longer exists.
 *
 * The `token` subresource binds the token to the Secret: it is invalid once the Secret or the account is gone.
 */
import type { ObjectKey } from "../api/api-object.ts";
import { isApiError } from "../api/errors/api-error.ts";
import type { TokenRequest } from "../api/generated/types/authentication-v1.ts";
import { Secret, ServiceAccount } from "../api/generated/types/core-v1.ts";
import type { ObjectChange } from "../runtime/cache/object-change.ts";
import { defineController, indexing, watching } from "../runtime/controller/controller.ts";
import type { CacheReader, Controller, Outcome, ReconcileContext } from "../runtime/controller/controller.ts";

const TYPE = "kubernetes.io/service-account-token";
const NAME = "kubernetes.io/service-account.name";
const UID = "kubernetes.io/service-account.uid";
const BY_ACCOUNT = "service-account";
/** 136 years: the longest lifetime that the API grants. */
const LIFETIME_SECONDS = 2 ** 32;

export interface TokenSecretSettings {
  /** PEM of the authority that signed the server's certificate; if undefined, Secrets get no `ca.crt`. */
  readonly ca: string | undefined;
}

export function tokenSecretController({ ca }: TokenSecretSettings): Controller {
  return defineController({
    name: "serviceaccount-token-controller",
    for: Secret,
    when: ({ before, after }) => [before, after].some((secret) => secret?.type === TYPE),
    indexes: [indexing(Secret, BY_ACCOUNT, accountsOf)],
    watches: [watching(ServiceAccount, secretsOf)],
    reconcile: (secret: Secret, context) => reconcile(secret, context, ca),
  });
}

async function reconcile(
  secret: Secret,
  context: ReconcileContext,
  ca: string | undefined,
): Promise<Outcome> {
  if (secret.type !== TYPE || secret.metadata.deletionTimestamp !== undefined) return undefined;
  const account = await findAccount(secret, context);
  if (account === undefined) await discard(secret, context);
  else if (secret.immutable !== true && isUnfinished(secret, account, ca))
    await fill(secret, account, { context, ca });
  return undefined;
}

/** Matches the account by uid, not only by name. Asks the server before reporting it missing: the cache may lag. */
async function findAccount(
  { metadata: { namespace, annotations = {} } }: Secret,
  { cache, client }: ReconcileContext,
): Promise<ServiceAccount | undefined> {
  const key = { namespace, name: annotations[NAME] ?? "" };
  const uid = annotations[UID];
  const isIt = (account: ServiceAccount | undefined): boolean =>
    account !== undefined && (uid === undefined || uid === "" || uid === account.metadata.uid);
  const known = cache(ServiceAccount).find(key);
  if (isIt(known)) return known;
  const live = await client(ServiceAccount).find(key);
  return isIt(live) ? live : undefined;
}

async function discard(secret: Secret, { client }: ReconcileContext): Promise<void> {
  const { uid, resourceVersion } = secret.metadata;
  try {
    await client(Secret).delete(secret, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
}

function isUnfinished(
  { data = {}, metadata }: Secret,
  account: ServiceAccount,
  ca: string | undefined,
): boolean {
  return (
    !isFilled(data["token"]) ||
    !isFilled(data["namespace"]) ||
    (ca !== undefined && data["ca.crt"] !== encoded(ca)) ||
    metadata.annotations?.[UID] !== account.metadata.uid
  );
}

function isFilled(text: string | undefined): boolean {
  return text !== undefined && text !== "";
}

interface Filling {
  readonly context: ReconcileContext;
  readonly ca: string | undefined;
}

/** The resourceVersion guards the write: of two concurrent writers one fails, and an issued token stays. */
async function fill(secret: Secret, account: ServiceAccount, { context, ca }: Filling): Promise<void> {
  const { data = {}, metadata } = secret;
  const { annotations, namespace = "" } = metadata;
  const token = isFilled(data["token"]) ? undefined : encoded(await requestToken(secret, account, context));
  // An update, not a patch: the controller's role permits update only.
  await context.client(Secret).update({
    ...secret,
    metadata: { ...metadata, annotations: { ...annotations, [UID]: account.metadata.uid } },
    data: {
      ...data,
      ...(!isFilled(data["namespace"]) && { namespace: encoded(namespace) }),
      ...(token !== undefined && { token }),
      ...(ca !== undefined && { "ca.crt": encoded(ca) }),
    },
  });
}

async function requestToken(
  { metadata: { name, uid } }: Secret,
  account: ServiceAccount,
  { client }: ReconcileContext,
): Promise<string> {
  const boundObjectRef = { apiVersion: "v1", kind: "Secret", name, uid };
  const answer = await client(ServiceAccount)
    .subresource("token")
    .create(account, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: [], expirationSeconds: LIFETIME_SECONDS, boundObjectRef },
    });
  return (answer as TokenRequest).status.token;
}

function accountsOf({ type, metadata: { namespace = "", annotations } }: Secret): readonly string[] {
  const name = annotations?.[NAME];
  return type === TYPE && name !== undefined ? [`${namespace}/${name}`] : [];
}

function secretsOf({ before, after }: ObjectChange<ServiceAccount>, read: CacheReader): readonly ObjectKey[] {
  const { namespace = "", name = "" } = (after ?? before)?.metadata ?? {};
  return read(Secret)
    .indexed(BY_ACCOUNT, `${namespace}/${name}`)
    .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

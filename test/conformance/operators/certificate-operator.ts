/** A small certificate manager: what certificates.yaml installs. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import { Secret } from "../../../src/api/generated/types/core-v1.ts";
import type { Condition } from "../../../src/api/generated/types/meta-v1.ts";
import { resourceType } from "../../../src/client/resource-type.ts";
import { isTrue, withCondition } from "../../../src/runtime/controller/conditions.ts";
import type { NewCondition } from "../../../src/runtime/controller/conditions.ts";
import { defineController, watching } from "../../../src/runtime/controller/controller.ts";
import type { Controller, ReconcileContext } from "../../../src/runtime/controller/controller.ts";
import type { TestAuthority } from "../../../src/server/egress/fixture.ts";
import type { Behaviour } from "../webhook-server.ts";

interface Status {
  readonly conditions?: readonly Condition[];
  readonly revision?: number;
}

interface Issuer extends ApiObject {
  readonly spec: { readonly selfSigned?: object };
  readonly status?: Status;
}

interface Certificate extends ApiObject {
  readonly spec: {
    readonly secretName: string;
    readonly dnsNames?: readonly string[];
    readonly issuerRef: { readonly name: string };
  };
  readonly status?: Status;
}

const apiVersion = "pki.example.com/v1";
const Issuer = resourceType<Issuer>({ apiVersion, kind: "Issuer", plural: "issuers", namespaced: true });
const Certificate = resourceType<Certificate>({
  apiVersion,
  kind: "Certificate",
  plural: "certificates",
  namespaced: true,
});

export function certificateControllers(authority: TestAuthority): readonly Controller[] {
  return [issuers, certificatesSignedBy(authority)];
}

const issuers = defineController<Issuer>({
  name: "pki-issuers",
  for: Issuer,
  async reconcile(issuer, context) {
    const ready: NewCondition = { type: "Ready", status: "True", reason: "IsReady", message: "signing" };
    await context.updateStatus(issuer, { conditions: conditionsWith(issuer, ready, context) });
  },
});

function certificatesSignedBy(authority: TestAuthority): Controller {
  return defineController<Certificate>({
    name: "pki-certificates",
    for: Certificate,
    owns: [Secret],
    watches: [
      watching(Issuer, ({ after }, read) =>
        read(Certificate)
          .list({ namespace: after?.metadata.namespace ?? "" })
          .map(({ metadata: { namespace, name = "" } }) => ({ namespace, name })),
      ),
    ],
    async reconcile(certificate, context) {
      const { namespace = "" } = certificate.metadata;
      const issuer = context.cache(Issuer).find({ namespace, name: certificate.spec.issuerRef.name });
      if (!isTrue(issuer?.status?.conditions, "Ready")) {
        const waiting: NewCondition = { type: "Ready", status: "False", reason: "IssuerNotReady" };
        await context.updateStatus(certificate, {
          conditions: conditionsWith(certificate, waiting, context),
        });
        return;
      }
      await context.children([await secretOf(certificate, authority, context)]);
      const ready: NewCondition = { type: "Ready", status: "True", reason: "Issued", message: "up to date" };
      const conditions = conditionsWith(certificate, ready, context);
      await context.updateStatus(certificate, { revision: 1, conditions });
    },
  });
}

/** A certificate that was issued for these names stays. */
async function secretOf(
  { metadata, spec }: Certificate,
  authority: TestAuthority,
  { cache }: ReconcileContext,
) {
  const { namespace } = metadata;
  const names = (spec.dnsNames ?? []).join(",");
  const annotations = { "pki.example.com/names": names };
  const known = cache(Secret).find({ namespace, name: spec.secretName });
  const isCurrent = known?.metadata.annotations?.["pki.example.com/names"] === names;
  const data = isCurrent ? known.data : await issued(authority, spec.dnsNames ?? []);
  const name = { name: spec.secretName, annotations };
  return { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata: name, data };
}

async function issued(authority: TestAuthority, names: readonly string[]) {
  const { key, cert } = await authority.leaf(names);
  return { "tls.crt": base64(cert), "tls.key": base64(key), "ca.crt": base64(authority.cert) };
}

function conditionsWith(
  { metadata: { generation }, status }: Issuer | Certificate,
  condition: NewCondition,
  { clock }: ReconcileContext,
): readonly Condition[] {
  return withCondition(status?.conditions, condition, { now: clock.now(), observedGeneration: generation });
}

const REQUESTER = "pki.example.com/requested-by";

export const certificateHooks: Readonly<Record<string, Behaviour>> = {
  "/mutate": ({ object, userInfo }) => {
    const annotations = { ...object?.["metadata"]?.["annotations"], [REQUESTER]: userInfo["username"] };
    return { patch: [{ op: "add", path: "/metadata/annotations", value: annotations }] };
  },
  "/validate": ({ object }) => {
    const names = (object?.["spec"]?.["dnsNames"] ?? []) as readonly string[];
    const foreign = names.filter((name) => name.endsWith(".example.invalid"));
    if (foreign.length === 0) return {};
    return {
      allowed: false,
      status: { code: 403, reason: "Forbidden", message: `not ours: ${foreign.join()}` },
    };
  },
};

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

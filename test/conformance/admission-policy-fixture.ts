/** Objects and requests that tests of policies share. */
import { type TestApi, text } from "../api-harness.ts";
import type { Reply } from "../api-harness.ts";

export const GROUP = "/apis/admissionregistration.k8s.io/v1";
export const MAPS = "/api/v1/namespaces/default/configmaps";
export const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

interface PolicyParts {
  readonly name?: string;
  readonly spec?: object;
  readonly binding?: object;
}

export const ON_MAPS = {
  resourceRules: [
    { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] },
  ],
};

export async function put(api: TestApi, path: string, object: object): Promise<void> {
  const reply = await api.send("POST", path, object);
  if (reply.code !== 201) throw new Error(JSON.stringify(reply.body));
}

/** Creates a policy and binds it to everything it matches. */
export async function bind(
  api: TestApi,
  kind: "Validating" | "Mutating",
  { name = "p", spec = {}, binding = {} }: PolicyParts,
): Promise<void> {
  const path = `${GROUP}/${kind.toLowerCase()}admissionpolic`;
  const apiVersion = "admissionregistration.k8s.io/v1";
  await put(api, `${path}ies`, {
    apiVersion,
    kind: `${kind}AdmissionPolicy`,
    metadata: { name },
    spec: { matchConstraints: ON_MAPS, ...spec },
  });
  await put(api, `${path}ybindings`, {
    apiVersion,
    kind: `${kind}AdmissionPolicyBinding`,
    metadata: { name: `${name}-b` },
    spec: { policyName: name, ...binding },
  });
}

export function validate(api: TestApi, { binding, ...parts }: PolicyParts): Promise<void> {
  return bind(api, "Validating", { ...parts, binding: { validationActions: ["Deny"], ...binding } });
}

/** The mutations are expressions of apply configurations. */
export function mutate(api: TestApi, expressions: readonly string[], parts: PolicyParts = {}): Promise<void> {
  const mutations = expressions.map((expression) => ({
    patchType: "ApplyConfiguration",
    applyConfiguration: { expression },
  }));
  const spec = { reinvocationPolicy: "Never", mutations, ...parts.spec };
  return bind(api, "Mutating", { ...parts, spec });
}

export function map(
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: object = {},
): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export function deployment(name: string, spec: object = {}): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "main", image: "web:1" }] },
      },
      ...spec,
    },
  };
}

export function messageOf({ body }: Reply): string {
  return text(body["message"]);
}

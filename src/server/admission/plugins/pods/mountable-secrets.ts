/** Enforces the annotation by which a service account limits its pods to the secrets that it lists. */
import type { Pod, ServiceAccount } from "../../../../api/generated/types/core-v1.ts";
import { ownValue } from "../../../../resources/rules/value-rules.ts";
import type { AnyContainer } from "./pod-containers.ts";

const ENFORCE = "kubernetes.io/enforce-mountable-secrets";
/** Texts that Go's strconv.ParseBool reads as true. */
const TRUE = ["1", "t", "T", "TRUE", "true", "True"];

const TITLES = {
  initContainers: "init container",
  containers: "container",
  ephemeralContainers: "ephemeral container",
} as const;

export function hasMountableSecrets({ metadata }: ServiceAccount): boolean {
  return TRUE.includes(ownValue(metadata.annotations, ENFORCE) ?? "");
}

/** Problem with the first secret that the service account does not list; undefined if there is none. */
export function mountableSecretProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  const known = new Set((account.secrets ?? []).map(({ name }) => name));
  const ending = `is not allowed because service account ${account.metadata.name} does not reference that secret`;
  const mounted = (spec.volumes ?? []).find(
    ({ secret }) => secret !== undefined && !known.has(secret.secretName),
  );
  if (mounted !== undefined)
    return `volume with secret.secretName="${mounted.secret?.secretName ?? ""}" ${ending}`;
  const used = (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap((container) => usesOf(container, TITLES[list])),
  );
  const other = used.find(({ secret }) => !known.has(secret));
  if (other !== undefined) return `${other.title} referencing secret.secretName="${other.secret}" ${ending}`;
  return pullSecretProblem(spec, account);
}

interface SecretUse {
  readonly title: string;
  readonly secret: string;
}

function usesOf({ name, env = [], envFrom = [] }: AnyContainer, title: string): readonly SecretUse[] {
  return [
    ...env.flatMap((variable): readonly SecretUse[] => {
      const secret = variable.valueFrom?.secretKeyRef?.name;
      return secret === undefined ? [] : [{ title: `${title} ${name} with envVar ${variable.name}`, secret }];
    }),
    ...envFrom.flatMap(({ secretRef }): readonly SecretUse[] =>
      secretRef === undefined
        ? []
        : [{ title: `${title} ${name} with envFrom`, secret: secretRef.name ?? "" }],
    ),
  ];
}

function pullSecretProblem(
  { imagePullSecrets = [] }: Pod["spec"],
  account: ServiceAccount,
): string | undefined {
  const known = new Set((account.imagePullSecrets ?? []).map(({ name }) => name));
  const other = imagePullSecrets.find(({ name }) => !known.has(name));
  if (other === undefined) return undefined;
  return `imagePullSecrets[].name="${other.name ?? ""}" is not allowed because service account ${account.metadata.name} does not reference that imagePullSecret`;
}

import { describe, expect, test } from "vitest";
import type { Pod, ServiceAccount } from "../../../../api/generated/types/core-v1.ts";
import { incomplete } from "../../../../api/object-fixture.ts";
import { hasMountableSecrets, mountableSecretProblem } from "./mountable-secrets.ts";

function account(annotation?: string): ServiceAccount {
  return incomplete<ServiceAccount>({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: {
      name: "robot",
      ...(annotation !== undefined && {
        annotations: { "kubernetes.io/enforce-mountable-secrets": annotation },
      }),
    },
    secrets: [{ name: "known" }],
    imagePullSecrets: [{ name: "pull" }],
  });
}

function problem(spec: object): string | undefined {
  return mountableSecretProblem(incomplete<Pod>({ spec: { containers: [], ...spec } }), account());
}

const variable = (name: string): object => ({ name: "V", valueFrom: { secretKeyRef: { name, key: "k" } } });
const ENDING = "is not allowed because service account robot does not reference that secret";

test.each([
  ["true", true],
  ["T", true],
  ["yes", false],
  [undefined, false],
])("the annotation %s limits a service account's secrets: %s", (annotation, isAsked) => {
  expect(hasMountableSecrets(account(annotation))).toBe(isAsked);
});

describe("a pod uses no secret that its service account does not list", () => {
  test.each([
    [
      "in a volume",
      { volumes: [{ name: "v", secret: { secretName: "other" } }] },
      `volume with secret.secretName="other" ${ENDING}`,
    ],
    [
      "in an environment variable",
      { initContainers: [{ name: "i", env: [variable("other")] }] },
      `init container i with envVar V referencing secret.secretName="other" ${ENDING}`,
    ],
    [
      "in envFrom of an ephemeral container",
      { ephemeralContainers: [{ name: "d", envFrom: [{ secretRef: { name: "other" } }] }] },
      `ephemeral container d with envFrom referencing secret.secretName="other" ${ENDING}`,
    ],
    [
      "as an image pull secret",
      { imagePullSecrets: [{ name: "other" }] },
      'imagePullSecrets[].name="other" is not allowed because service account robot does not reference that imagePullSecret',
    ],
  ])("%s", (_title, spec, says) => {
    expect(problem(spec)).toBe(says);
  });

  test("and may use the listed ones", () => {
    const spec = {
      volumes: [
        { name: "v", secret: { secretName: "known" } },
        { name: "e", emptyDir: {} },
      ],
      containers: [{ name: "c", env: [variable("known")], envFrom: [{ configMapRef: { name: "m" } }] }],
      imagePullSecrets: [{ name: "pull" }],
    };

    expect(problem(spec)).toBeUndefined();
  });
});

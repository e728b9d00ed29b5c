import { describe, expect, test } from "vitest";
import type { Container, Pod, PodSpec, Volume } from "../../api/generated/types/core-v1.ts";
import {
  environmentUses,
  checkEnvironment,
  checkVolume,
  neededVolumes,
  pullSecretUses,
  type FindConfig,
  type ConfigState,
  type ConfigFinding,
} from "./config-needs.ts";

const NONE: ReadonlySet<string> = new Set();
const WORLD: Readonly<Record<string, ConfigState>> = {
  "configmap/there": { type: "found", keys: new Set(["a"]), binaryKeys: new Set(["raw"]) },
  "secret/there": { type: "found", keys: new Set(["a"]), binaryKeys: NONE },
  "secret/locked": { type: "failed", message: "not yours" },
};
const findConfig: FindConfig = ({ kind, name, namespace }) =>
  namespace !== "default" || name === "unknown"
    ? undefined
    : (WORLD[`${kind}/${name}`] ?? { type: "missing" });

const FINE: ConfigFinding = { type: "fine" };
const OPEN: ConfigFinding = { type: "open" };

describe("the environment of a container", () => {
  test.each<[string, Pick<Container, "env" | "envFrom">, ConfigFinding]>([
    ["nothing", { env: [{ name: "A", value: "a" }] }, FINE],
    ["a present key", variable({ configMapKeyRef: { name: "there", key: "a" } }), FINE],
    ["a key of a Secret", variable({ secretKeyRef: { name: "there", key: "a" } }), FINE],
    [
      "a missing ConfigMap",
      variable({ configMapKeyRef: { name: "x", key: "a" } }),
      problem('configmap "x" not found'),
    ],
    [
      "a missing Secret",
      variable({ secretKeyRef: { name: "x", key: "a" } }),
      problem('secret "x" not found'),
    ],
    [
      "a missing key",
      variable({ configMapKeyRef: { name: "there", key: "k" } }),
      problem("couldn't find key k in ConfigMap default/there"),
    ],
    [
      "a missing key of a Secret",
      variable({ secretKeyRef: { name: "there", key: "k" } }),
      problem("couldn't find key k in Secret default/there"),
    ],
    [
      "binary data, which a variable cannot hold",
      variable({ configMapKeyRef: { name: "there", key: "raw" } }),
      problem("couldn't find key raw in ConfigMap default/there"),
    ],
    ["an optional ConfigMap", variable({ configMapKeyRef: { name: "x", key: "a", optional: true } }), FINE],
    ["an optional key", variable({ secretKeyRef: { name: "there", key: "k", optional: true } }), FINE],
    [
      "an optional object that cannot be read",
      variable({ secretKeyRef: { name: "locked", key: "k", optional: true } }),
      problem("not yours"),
    ],
    ["all of a ConfigMap", { envFrom: [{ prefix: "P_", configMapRef: { name: "there" } }] }, FINE],
    ["all of a missing Secret", { envFrom: [{ secretRef: { name: "x" } }] }, problem('secret "x" not found')],
    ["all of an optional ConfigMap", { envFrom: [{ configMapRef: { name: "x", optional: true } }] }, FINE],
    ["an unknown object", { envFrom: [{ configMapRef: { name: "unknown" } }] }, OPEN],
    [
      "several missing objects, and reports the first",
      {
        ...variable({ configMapKeyRef: { name: "x", key: "a" } }),
        envFrom: [{ secretRef: { name: "y" } }],
      },
      problem('secret "y" not found'),
    ],
  ])("comes from %s", (_, parts, finding) => {
    const container = { name: "web", resources: {}, ...parts };

    expect(
      checkEnvironment(environmentUses(podOf({ containers: [container] }), container), findConfig),
    ).toEqual(finding);
  });
});

describe("a volume", () => {
  test.each<[string, Omit<Volume, "name">, ConfigFinding]>([
    ["a ConfigMap", { configMap: { name: "there" } }, FINE],
    ["a Secret", { secret: { secretName: "there" } }, FINE],
    ["a missing ConfigMap", { configMap: { name: "x" } }, problem('configmap "x" not found')],
    ["a missing Secret", { secret: { secretName: "x" } }, problem('secret "x" not found')],
    ["an optional Secret", { secret: { secretName: "x", optional: true } }, FINE],
    ["bytes", { configMap: { name: "there", items: [item("raw")] } }, FINE],
    [
      "a missing key",
      { configMap: { name: "there", items: [item("a"), item("k")] } },
      problem("references non-existent config key: k"),
    ],
    [
      "a missing key of a Secret",
      { secret: { secretName: "there", items: [item("k")] } },
      problem("references non-existent secret key: k"),
    ],
    ["an optional key", { configMap: { name: "there", optional: true, items: [item("k")] } }, FINE],
    [
      "several sources, one of them missing",
      projected(
        { serviceAccountToken: { path: "token" } },
        { configMap: { name: "x" } },
        { downwardAPI: {} },
      ),
      problem('configmap "x" not found'),
    ],
    [
      "several missing sources",
      projected({ secret: { name: "x" } }, { configMap: { name: "x" } }, { secret: { name: "x" } }),
      problem('[secret "x" not found, configmap "x" not found]'),
    ],
    ["an unknown object", projected({ secret: { name: "x" } }, { secret: { name: "unknown" } }), OPEN],
  ])("comes from %s", (_, source, finding) => {
    const needed = neededVolumes(podOf(mounting({ name: "v", ...source })));

    expect(needed.map((volume) => checkVolume(volume, findConfig))).toEqual([finding]);
  });

  test("is not needed without a mount, or without a source", () => {
    const volumes = [
      { name: "unused", configMap: { name: "x" } },
      { name: "v", emptyDir: {} },
    ];

    expect(neededVolumes(podOf({ ...mounting({ name: "v" }), volumes }))).toEqual([]);
  });

  test("is needed when only an init container mounts it", () => {
    const { containers, ...others } = mounting({ name: "v", configMap: { name: "x" } });
    const spec = { ...others, initContainers: containers, containers: [{ name: "a", resources: {} }] };

    expect(neededVolumes(podOf(spec))).toMatchObject([{ name: "v" }]);
  });
});

test("pull secrets without a name are ignored", () => {
  const spec = { containers: [], imagePullSecrets: [{ name: "" }, { name: "one" }] };

  expect(pullSecretUses(podOf(spec))).toEqual([{ kind: "secret", namespace: "default", name: "one" }]);
});

function problem(message: string): ConfigFinding {
  return { type: "problem", message };
}

function variable(
  valueFrom: NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>,
): Pick<Container, "env"> {
  return { env: [{ name: "A", valueFrom }] };
}

function item(key: string): { readonly key: string; readonly path: string } {
  return { key, path: key };
}

function projected(
  ...sources: NonNullable<NonNullable<Volume["projected"]>["sources"]>
): Omit<Volume, "name"> {
  return { projected: { sources } };
}

function mounting(volume: Volume): PodSpec {
  const volumeMounts = [{ name: volume.name, mountPath: "/v" }];
  return { containers: [{ name: "web", resources: {}, volumeMounts }], volumes: [volume] };
}

function podOf(spec: PodSpec): Pod {
  const metadata = {
    name: "web",
    namespace: "default",
    uid: "1",
    resourceVersion: "1",
    creationTimestamp: "",
  };
  return { apiVersion: "v1", kind: "Pod", metadata, spec, status: {} };
}

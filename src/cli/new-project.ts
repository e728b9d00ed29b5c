/** The files of a new operator project, by path. Pure: the same names give the same files. */
import { Deployment } from "../api/generated/types/apps-v1.ts";
import { stringifyYaml } from "../api/yaml/yaml-text.ts";
import { defineController } from "../runtime/controller/controller.ts";
import { permissionsOf } from "../runtime/controller/permissions.ts";
import { defineResource } from "../runtime/kinds/resource-definition.ts";
import { t } from "../runtime/kinds/schema-part.ts";

/** npm package from which the project imports. */
const PACKAGE = "setpoint";

export interface ProjectNames {
  /** Name of the folder and of the package, `my-operator`. */
  readonly name: string;
  /** `App`. */
  readonly kind: string;
  /** `example.com`. */
  readonly group: string;
  /** Path of the package's tarball in the project. */
  readonly tarball: string;
}

export function projectFiles(names: ProjectNames): Readonly<Record<string, string>> {
  return {
    "package.json": packageText(names),
    "tsconfig.json": TSCONFIG,
    ".gitignore": "node_modules/\ndist/\n",
    "README.md": readmeText(names),
    Dockerfile: DOCKERFILE,
    ".dockerignore": "node_modules/\ndist/\n",
    ".github/workflows/test.yaml": CI,
    "src/kind.ts": kindText(names),
    "src/controller.ts": controllerText(names),
    "src/controller.test.ts": testText(names),
    "src/main.ts": mainText(names),
    "manifests/crd.yaml": definitionText(names),
    "manifests/example.yaml": exampleText(names),
    "manifests/rbac.yaml": rbacText(names),
    "manifests/deployment.yaml": deploymentText(names),
  };
}

function packageText({ name, tarball }: ProjectNames): string {
  return jsonText({
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      build: "tsc",
      test: "tsc && node --test dist/",
      start: "tsc && node dist/main.js",
      crd: "tsc && setpoint crd dist/kind.js",
      rbac: "tsc && setpoint rbac dist/controller.js",
    },
    dependencies: { [PACKAGE]: `file:${tarball}` },
    devDependencies: { "@types/node": "^20.19.0", typescript: ">=5.9" },
    engines: { node: ">=20.19" },
  });
}

const TSCONFIG = jsonText({
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2023", "ESNext.Disposable"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    rootDir: "src",
    outDir: "dist",
  },
  include: ["src"],
});

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function kindText({ kind, group }: ProjectNames): string {
  return `import { defineResource, t } from "${PACKAGE}/runtime";
import type { ObjectOf } from "${PACKAGE}/runtime";

/** Source of the TypeScript type below and of the CustomResourceDefinition that \`npm run crd\` prints. */
export const ${kind} = defineResource({
  group: "${group}",
  version: "v1",
  kind: "${kind}",
  spec: t.object({
    image: t.string({ minLength: 1 }),
    replicas: t.integer({ minimum: 0, maximum: 100 }).default(1),
  }),
  status: t.object({
    ready: t.integer(),
    observedGeneration: t.integer().optional(),
    conditions: t.conditions(),
  }),
  columns: [
    { name: "Replicas", path: ".spec.replicas", type: "integer" },
    { name: "Ready", path: ".status.ready", type: "integer" },
  ],
});
export type ${kind} = ObjectOf<typeof ${kind}>;
`;
}

function controllerText({ name, kind }: ProjectNames): string {
  return `import { Deployment } from "${PACKAGE}/resources";
import { child, defineController, withCondition } from "${PACKAGE}/runtime";
import type { DeclaredChild } from "${PACKAGE}/runtime";
import { ${kind} } from "./kind.ts";

/** Keeps a Deployment of the same name for every ${kind}, and reports its number of ready pods. */
export const controller = defineController<${kind}>({
  name: "${name}",
  for: ${kind},
  owns: [Deployment],
  async reconcile(object, { cache, children, clock, updateStatus }) {
    const { metadata, spec, status } = object;
    await children([deploymentOf(object)]);
    const ready = cache(Deployment).find(metadata)?.status.readyReplicas ?? 0;
    const isReady = ready >= spec.replicas;
    const condition = {
      type: "Ready",
      status: isReady,
      reason: isReady ? "AllReady" : "Waiting",
    };
    const moment = { now: clock.now(), observedGeneration: metadata.generation };
    await updateStatus(object, { ready, conditions: withCondition(status?.conditions, condition, moment) });
  },
});

function deploymentOf({ metadata, spec }: ${kind}): DeclaredChild {
  const labels = { "app.kubernetes.io/name": metadata.name };
  return child(Deployment, {
    metadata: { name: metadata.name },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: spec.image }] } },
    },
  });
}
`;
}

function testText({ kind }: ProjectNames): string {
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { startCluster } from "${PACKAGE}";
import type { Cluster } from "${PACKAGE}";
import { Deployment } from "${PACKAGE}/resources";
import { isTrue } from "${PACKAGE}/runtime";
import { controller } from "./controller.ts";
import { ${kind} } from "./kind.ts";

test("a ${kind} gets a Deployment, and a new one after a delete", async () => {
  await using cluster = await start();

  await cluster.client(${kind}).create({ metadata: { name: "web" }, spec: { image: "nginx", replicas: 2 } });
  await cluster.settle();
  assert.equal(deployment(cluster)?.spec.replicas, 2);

  await cluster.client(Deployment).delete({ name: "web" });
  await cluster.settle();
  assert.equal(deployment(cluster)?.spec.replicas, 2);
});

test("a ${kind} is ready when its pods are", async () => {
  await using cluster = await start();
  await cluster.client(${kind}).create({ metadata: { name: "web" }, spec: { image: "nginx" } });
  await cluster.settle();
  assert.equal(isTrue(cluster.objects(${kind})[0]?.status?.conditions, "Ready"), false);

  const made = await cluster.client(Deployment).get({ name: "web" });
  await cluster.client(Deployment).updateStatus(made, { replicas: 1, readyReplicas: 1 });
  await cluster.settle();

  assert.equal(isTrue(cluster.objects(${kind})[0]?.status?.conditions, "Ready"), true);
});

test("a controller that is killed in the middle of its work is finished by the next one", async () => {
  await using cluster = await startCluster({ clock: "virtual", seed: 1, loops: "none", kinds: [${kind}] });
  const first = cluster.run({ controllers: [controller] });
  await cluster.client(${kind}).create({ metadata: { name: "web" }, spec: { image: "nginx", replicas: 2 } });
  await cluster.until(() => deployment(cluster) !== undefined);
  first.kill(); // The Deployment exists, the status is not written.
  assert.equal(cluster.objects(${kind})[0]?.status, undefined);

  cluster.run({ controllers: [controller] });
  await cluster.settle();

  assert.equal(cluster.objects(${kind})[0]?.status?.ready, 0);
});

test("the controller writes nothing once the state is right", async () => {
  await using cluster = await start();
  await cluster.client(${kind}).create({ metadata: { name: "web" }, spec: { image: "nginx" } });
  await cluster.settle();
  const before = [cluster.objects(${kind}), cluster.objects(Deployment)];

  await cluster.clock.advance("24h");

  assert.deepEqual([cluster.objects(${kind}), cluster.objects(Deployment)], before);
});

/** A whole cluster in this process. The test alone moves its clock. Without built-in loops no controller creates pods. */
function start(): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed: 1, loops: "none", kinds: [${kind}], controllers: [controller] });
}

function deployment(cluster: Cluster): Deployment | undefined {
  return cluster.objects(Deployment, "default").find(({ metadata }) => metadata.name === "web");
}
`;
}

function mainText({ name }: ProjectNames): string {
  return `import process from "node:process";
import { connect } from "${PACKAGE}/client";
import { createManager, createTextLog } from "${PACKAGE}/runtime";
import { controller } from "./controller.ts";

const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => ending.abort());

const log = createTextLog({ isColoured: false, write: (line) => process.stderr.write(line) });
await using connection = await connect();
const { client, transport, namespace } = connection;
const leaderElection = { name: "${name}", namespace };
const manager = createManager({ client, transport, log, controllers: [controller], leaderElection });
log.info("${name} runs");
await manager.run(ending.signal);
`;
}

/** Output of `npm run crd` for the kind above; a test keeps the two equal. */
function definitionText({ kind, group }: ProjectNames): string {
  const { definition } = defineResource({
    group,
    version: "v1",
    kind,
    spec: t.object({
      image: t.string({ minLength: 1 }),
      replicas: t.integer({ minimum: 0, maximum: 100 }).default(1),
    }),
    status: t.object({
      ready: t.integer(),
      observedGeneration: t.integer().optional(),
      conditions: t.conditions(),
    }),
    columns: [
      { name: "Replicas", path: ".spec.replicas", type: "integer" },
      { name: "Ready", path: ".status.ready", type: "integer" },
    ],
  });
  return stringifyYaml(definition);
}

function exampleText({ kind, group }: ProjectNames): string {
  return stringifyYaml({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: "web" },
    spec: { image: "nginx", replicas: 2 },
  });
}

/** Output of `npm run rbac` for the controller above, with the account that it is for; a test compares them. */
function rbacText({ name, kind, group }: ProjectNames): string {
  const type = defineResource({ group, version: "v1", kind, spec: t.object({}) });
  const controller = defineController({
    name,
    for: type,
    owns: [Deployment],
    reconcile: async () => undefined,
  });
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name },
    rules: permissionsOf([controller]),
  };
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "default" } };
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name, namespace: "default" }],
  };
  return [role, account, binding].map((object) => stringifyYaml(object)).join("---\n");
}

function deploymentText({ name }: ProjectNames): string {
  const labels = { "app.kubernetes.io/name": name };
  return stringifyYaml({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          containers: [
            {
              name: "operator",
              image: `${name}:0.1.0`,
              resources: { requests: { cpu: "50m", memory: "128Mi" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                runAsNonRoot: true,
              },
            },
          ],
        },
      },
    },
  });
}

const DOCKERFILE = `FROM node:22-slim AS build
WORKDIR /app
COPY package.json ./
COPY vendor ./vendor
RUN npm install --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
RUN npx tsc && npm prune --omit=dev --ignore-scripts

FROM node:22-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER 1000
CMD ["node", "dist/main.js"]
`;

const CI = `name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - run: npm install --ignore-scripts
      - run: npm test
`;

function readmeText({ name, kind }: ProjectNames): string {
  return `# ${name}

Keeps a Deployment for every \`${kind}\`.

| file | content |
|---|---|
| \`src/kind.ts\` | the kind: schema, TypeScript type and CustomResourceDefinition in one |
| \`src/controller.ts\` | the loop |
| \`src/controller.test.ts\` | its tests, in a cluster inside the test's process, on a virtual clock |
| \`src/main.ts\` | the loop as a program, against the cluster your kubeconfig names |
| \`manifests/\` | an example object, the CustomResourceDefinition, permissions and a Deployment of the operator |
| \`vendor/\` | the package \`setpoint\`, which is not on npm |
| \`Dockerfile\`, \`.github/\` | an image of the operator, and its tests in CI |

\`\`\`sh
npm test                                 # compiles, then runs the tests
kubectl apply -f manifests/crd.yaml
npm start                                # runs against $KUBECONFIG, Setpoint's or any other Kubernetes'
kubectl apply -f manifests/example.yaml
npm run --silent crd > manifests/crd.yaml   # after you have changed the kind
npm run --silent rbac                       # the ClusterRole in manifests/rbac.yaml, after you have changed the controller
\`\`\`
`;
}

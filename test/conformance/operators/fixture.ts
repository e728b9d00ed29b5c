/** One cluster as users run it, the real kubectl, and the environment of an operator that starts within it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../../src/api/json/json-object.ts";
import { connect } from "../../../src/client/connection.ts";
import type { Connection } from "../../../src/client/connection.ts";
import { Kubectl } from "../kubectl/kubectl.ts";
import { LastingProgram } from "../kubectl/program.ts";

export class OperatorFixture implements AsyncDisposable {
  /** kubectl as the administrator. */
  readonly kubectl: Kubectl;
  readonly #home: string;
  readonly #program: LastingProgram;
  readonly #server: URL;
  #hiding = 0;
  #hidden: Promise<string> | undefined;

  private constructor(kubectl: Kubectl, home: string, program: LastingProgram, server: string) {
    this.kubectl = kubectl;
    this.#home = home;
    this.#program = program;
    this.#server = new URL(server);
  }

  static async start(path: string): Promise<OperatorFixture> {
    const home = mkdtempSync(join(tmpdir(), "setpoint-operators-"));
    const place = ["--data-dir", join(home, "data"), "--listen", "127.0.0.1:0", "--store", "memory"];
    const program = new LastingProgram("up", ...place);
    const { kubeconfig = "", server = "" } = await program.event("ready");
    return new OperatorFixture(new Kubectl({ path, kubeconfig, home }), home, program, server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program.end("SIGTERM");
    rmSync(this.#home, { recursive: true, force: true });
  }

  /** Creates a namespace with a user who may edit it and a user who may view it. */
  async team(name: string): Promise<Kubectl> {
    const kubectl = this.kubectl.within(name);
    await this.kubectl.ok("create", "-f", kubectl.path(kubectl.file("team.json", documents(teamOf(name)))));
    return kubectl;
  }

  /** Connects with the files that a pod of this service account gets: token, CA and address. */
  async connectAs(namespace: string, account: string): Promise<Connection> {
    const kubectl = this.kubectl.within(namespace);
    const serviceAccountDir = join(this.#home, "pods", namespace, account);
    mkdirSync(serviceAccountDir, { recursive: true });
    const authority = ["get", "configmap", "kube-root-ca.crt", "-o", "jsonpath={.data.ca\\.crt}"];
    const [token, ca] = await Promise.all([
      kubectl.ok("create", "token", account, "--duration=1h"),
      kubectl.ok(...authority),
    ]);
    const files = { token, "ca.crt": ca, namespace };
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(serviceAccountDir, name), text, { mode: 0o600 });
    const env = {
      HOME: serviceAccountDir,
      KUBERNETES_SERVICE_HOST: this.#server.hostname,
      KUBERNETES_SERVICE_PORT: this.#server.port,
    };
    return await connect({ env, serviceAccountDir });
  }

  /** Keeps pods off nodes, so that no Service has endpoints. Pods are placed again once the last of several callers has ended. */
  async withoutNodes(run: () => Promise<void>): Promise<void> {
    this.#hiding++;
    this.#hidden ??= this.kubectl.ok("cordon", "--selector=kubernetes.io/os=linux");
    await this.#hidden;
    await run();
    if (--this.#hiding > 0) return;
    await this.kubectl.ok("uncordon", "--selector=kubernetes.io/os=linux");
    this.#hidden = undefined;
  }
}

function teamOf(namespace: string): readonly object[] {
  const apiGroup = "rbac.authorization.k8s.io";
  const bound = (role: string): object => ({
    apiVersion: `${apiGroup}/v1`,
    kind: "RoleBinding",
    metadata: { name: role, namespace },
    roleRef: { apiGroup, kind: "ClusterRole", name: role },
    subjects: [{ apiGroup, kind: "User", name: `${role}or` }],
  });
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    bound("edit"),
    bound("view"),
  ];
}

export function manifest(name: string): string {
  return fileURLToPath(new URL(`${name}.yaml`, import.meta.url));
}

/** kubectl's outcome per object: `["namespace/a", "created"]`. */
export async function apply(
  kubectl: Kubectl,
  file: string,
  ...flags: readonly string[]
): Promise<readonly (readonly [string, string])[]> {
  const said = await kubectl.ok("apply", "-f", file, ...flags);
  return said
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [object = "", outcome = ""] = line.split(" ");
      return [object.replace(/\.[^/]*/, ""), outcome] as const;
    });
}

interface Versioned {
  readonly kind: string;
  readonly metadata: { readonly uid: string; readonly generation?: number; readonly resourceVersion: string };
  readonly spec?: unknown;
}

/** Objects with their versions. The generation counts where controllers write a status, the resourceVersion elsewhere. */
export async function versions(kubectl: Kubectl, file: string): Promise<Readonly<Record<string, unknown>>> {
  const { items } = (await kubectl.json("get", "-f", file)) as JsonObject & { items: readonly Versioned[] };
  return Object.fromEntries(
    items.map(({ kind, metadata: { uid, generation, resourceVersion }, spec }) => {
      const version = kind === "ResourceQuota" ? spec : (generation ?? resourceVersion);
      return [uid, { kind, version }];
    }),
  );
}

/** Several objects in one file. */
export function documents(objects: readonly object[]): string {
  return objects.map((object) => JSON.stringify(object)).join("\n");
}

/** A cluster in this process, and the real kubectl with its kubeconfig. */
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kubectl } from "./kubectl.ts";
import { serveCluster } from "./served-cluster.ts";
import type { Parts, ServedCluster } from "./served-cluster.ts";

/** Created beforehand by one kubectl command. */
const NAMESPACES = 200;

export class Session implements AsyncDisposable {
  readonly #kubectl: Kubectl;
  readonly #folder: string;
  readonly #ending: AbortController;
  readonly #running: Promise<void>;
  #used = 0;

  private constructor(kubectl: Kubectl, folder: string, cluster: ServedCluster) {
    this.#kubectl = kubectl;
    this.#folder = folder;
    this.#ending = cluster.ending;
    this.#running = cluster.running;
  }

  static async start(path: string, parts: Parts): Promise<Session> {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-kubectl-"));
    const cluster = await serveCluster(join(folder, "data"), parts).catch((error: unknown) => {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    });
    const kubectl = new Kubectl({ path, kubeconfig: cluster.kubeconfig, home: folder });
    const session = new Session(kubectl, folder, cluster);
    const names = Array.from({ length: NAMESPACES }, (_, n) => namespaceName(n));
    await writeFile(join(folder, "namespaces.json"), JSON.stringify(namespaceList(names)));
    await kubectl.ok("create", "-f", "namespaces.json");
    return session;
  }

  /** kubectl in a namespace that only the caller uses. */
  namespace(): Kubectl {
    if (this.#used === NAMESPACES) throw new Error(`there are only ${String(NAMESPACES)} namespaces`);
    const name = namespaceName(this.#used++);
    return this.#kubectl.within(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function namespaceName(n: number): string {
  return `test-${String(n)}`;
}

function namespaceList(names: readonly string[]): unknown {
  const items = names.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  return { apiVersion: "v1", kind: "List", items };
}

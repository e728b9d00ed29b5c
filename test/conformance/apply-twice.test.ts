/**
 * Applying the same content again makes no revision. Checked with manifests of well-known projects, which are not part of this repository:
 * without `../shared/manifests` the test is skipped and says so.
 */
import { expect, test } from "vitest";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import { TestApi, text } from "../api-harness.ts";
import type { Reply, ReplyBody, RequestOptions } from "../api-harness.ts";
import { describeShared, manifestFiles, sharedLines } from "../shared-files.ts";

const APPLY = { type: "application/apply-patch+yaml" };
const MERGE = { type: "application/merge-patch+json" };
/** Longer than the resolution of times in managed fields. */
const PAUSE_MS = 5000;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

interface Served {
  readonly kind: string;
  readonly name: string;
  readonly namespaced: boolean;
}

class Installation {
  readonly #loop: VirtualLoop;
  readonly #api: TestApi;
  readonly #served = new Map<string, readonly Served[]>();

  private constructor(loop: VirtualLoop, api: TestApi) {
    this.#loop = loop;
    this.#api = api;
  }

  static async start(): Promise<Installation> {
    const loop = new VirtualLoop({ seed: 1 });
    const made = new Installation(loop, await TestApi.start([], { loop }));
    const cidr = { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/12"] } };
    await made.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", cidr);
    return made;
  }

  async send(method: string, target: string, body?: unknown, options?: RequestOptions): Promise<Reply> {
    let isDone = false;
    const settled = this.#api.send(method, target, body, options).finally(() => (isDone = true));
    await this.#loop.until(() => isDone);
    return settled;
  }

  /** Advances the clock, and lets definitions be established. */
  pause(): Promise<void> {
    return this.#loop.advance(PAUSE_MS);
  }

  /** Path of an object; undefined for a kind that is not served. */
  async findPath({ apiVersion, kind, metadata }: Manifest): Promise<string | undefined> {
    const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const served = (await this.#resources(root)).find((each) => each.kind === kind);
    if (served === undefined) return undefined;
    const place = served.namespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
    return `${root}${place}/${served.name}/${encodeURIComponent(metadata.name)}`;
  }

  async #resources(root: string): Promise<readonly Served[]> {
    const known = this.#served.get(root);
    if (known !== undefined) return known;
    const { body } = await this.send("GET", root);
    const resources = (body["resources"] ?? []) as readonly Served[];
    const served = resources.filter(({ name }) => !name.includes("/"));
    if (served.length > 0) this.#served.set(root, served);
    return served;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#api[Symbol.asyncDispose]();
    await this.#loop.settle();
    await ended;
  }
}

/** Definitions first, because users of `kubectl apply` have them in a separate file. */
function manifestsIn(file: string): readonly Manifest[] {
  const manifests = sharedLines<Manifest>(`manifests/${file}`);
  const order = ["Namespace", "CustomResourceDefinition"];
  const rank = ({ kind }: Manifest): number => (order.indexOf(kind) + order.length) % (order.length + 1);
  return manifests.toSorted((left, right) => rank(left) - rank(right));
}

describeShared("manifests", "a manifest of another project", () => {
  test.each(manifestFiles())(
    "%s applied, put and patched again with the same content makes no revision",
    async (file) => {
      await using installation = await Installation.start();
      const manifests = manifestsIn(file);
      const namespaces = new Set(manifests.map(({ metadata }) => metadata.namespace ?? "default"));
      for (const name of namespaces)
        await installation.send("POST", "/api/v1/namespaces", { metadata: { name } });

      const { stored, refused } = await installed(manifests, installation);
      expect(refused).toEqual([]);
      await installation.pause();

      const changed: string[] = [];
      for (const [path, manifest] of stored) {
        const before = await installation.send("GET", path);
        const writes: readonly (readonly [string, () => Promise<Reply>])[] = [
          ["apply", () => installation.send("PATCH", `${path}?fieldManager=a`, manifest, APPLY)],
          ["put", () => installation.send("PUT", `${path}?fieldManager=b`, before.bytes)],
          [
            "merge",
            () => installation.send("PATCH", `${path}?fieldManager=c`, withoutStatus(manifest), MERGE),
          ],
        ];
        for (const [how, write] of writes)
          if (revisionOf(await write()) !== revisionOf(before)) changed.push(`${how} ${path}`);
      }
      expect(changed).toEqual([]);
    },
  );
});

interface Installed {
  /** Stored objects by path. */
  readonly stored: ReadonlyMap<string, Manifest>;
  readonly refused: readonly string[];
}

/** Skips objects of kinds that another project defines. */
async function installed(manifests: readonly Manifest[], installation: Installation): Promise<Installed> {
  const stored = new Map<string, Manifest>();
  const refused: string[] = [];
  for (const manifest of manifests) {
    const path = await installation.findPath(manifest);
    if (path === undefined) continue;
    const { code, body } = await installation.send("PATCH", `${path}?fieldManager=a`, manifest, APPLY);
    const message = text(body["message"]);
    if (code < 300) stored.set(path, manifest);
    else refused.push(`${path}: ${message}`);
    if (manifest.kind === "CustomResourceDefinition") await installation.pause();
  }
  return { stored, refused };
}

/** A merge patch of the main endpoint does not write the status. */
function withoutStatus(manifest: Manifest): object {
  const { status: _, ...others } = manifest;
  return others;
}

function revisionOf({ body }: Reply): ReplyBody | undefined {
  return body["metadata"]?.["resourceVersion"];
}

/** Manifests that well-known projects tell their users to install. */
import { expect, test } from "vitest";
import { hasCondition, TestApi, text, until } from "../api-harness.ts";
import { describeShared, manifestFiles, sharedLines } from "../shared-files.ts";

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly generateName?: string; readonly namespace?: string };
}

interface Served {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Objects of kinds that the file does not define; cert-manager or Knative's networking and caching define them. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  "knative-serving.jsonl": [
    "no Certificate in networking.internal.knative.dev/v1alpha1",
    "no Image in caching.internal.knative.dev/v1alpha1",
  ],
  "otel-operator.jsonl": ["no Certificate in cert-manager.io/v1", "no Issuer in cert-manager.io/v1"],
};

/** Kinds that other objects need. */
const FIRST: ReadonlySet<string> = new Set(["Namespace", "CustomResourceDefinition"]);

function isFirst({ kind }: Manifest): boolean {
  return FIRST.has(kind);
}

/** A periodic task of the server would create it. */
const SERVICE_ADDRESSES = {
  metadata: { name: "kubernetes" },
  spec: { cidrs: ["10.96.0.0/12", "fd00::/112"] },
};

function groupPath(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

class Cluster {
  readonly #api: TestApi;
  readonly #served = new Map<string, readonly Served[]>();

  constructor(api: TestApi) {
    this.#api = api;
  }

  /** Error of the object; `undefined` if it is accepted. */
  async install(manifest: Manifest): Promise<string | undefined> {
    const { apiVersion, kind, metadata } = manifest;
    const title = `${kind} ${metadata.name ?? metadata.generateName ?? ""}`;
    const resource = await this.#resource(apiVersion, kind);
    if (resource === undefined) return `no ${kind} in ${apiVersion}`;
    const { namespace = "default" } = metadata;
    if (resource.namespaced) await this.#namespace(namespace);
    const place = resource.namespaced ? `/namespaces/${namespace}` : "";
    const path = `${groupPath(apiVersion)}${place}/${resource.name}`;
    const { code, body } = await this.#api.send("POST", path, manifest);
    if (code !== 201) return `${title}: ${String(code)} ${text(body["message"])}`;
    if (kind === "CustomResourceDefinition")
      await until(this.#api, `${path}/${metadata.name ?? ""}`, hasCondition("Established"));
    return undefined;
  }

  async #resource(apiVersion: string, kind: string): Promise<Served | undefined> {
    const known = this.#served.get(apiVersion) ?? (await this.#discover(apiVersion));
    return known.find((resource) => resource.kind === kind);
  }

  async #discover(apiVersion: string): Promise<readonly Served[]> {
    const { body } = await this.#api.send("GET", groupPath(apiVersion));
    const all = (body["resources"] ?? []) as readonly Served[];
    const served = all.filter(({ name }) => !name.includes("/"));
    if (served.length > 0) this.#served.set(apiVersion, served);
    return served;
  }

  async #namespace(name: string): Promise<void> {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    await this.#api.send("POST", "/api/v1/namespaces", body);
  }
}

describeShared("manifests", "the manifests of", () => {
  test.each(manifestFiles())("%s are accepted, object by object", async (file) => {
    await using api = await TestApi.start([]);
    await api.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", SERVICE_ADDRESSES);
    const cluster = new Cluster(api);
    const manifests = sharedLines<Manifest & object>(`manifests/${file}`);

    const refused: string[] = [];
    for (const manifest of [...manifests.filter(isFirst), ...manifests.filter((one) => !isFirst(one))]) {
      const reason = await cluster.install(manifest);
      if (reason !== undefined) refused.push(reason);
    }

    expect(refused).toEqual(FOREIGN[file] ?? []);
  });
});

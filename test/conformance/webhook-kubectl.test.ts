/** Webhooks with the real kubectl: its output for mutations, refusals and warnings. */
import { createServer } from "node:https";
import type { Server } from "node:https";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/api/json/json-object.ts";
import { listening, makeAuthority } from "../../src/server/egress/fixture.ts";
import { listOf } from "../api-harness.ts";
import { describePeer } from "../peers.ts";
import type { Kubectl } from "./kubectl/kubectl.ts";
import { Session } from "./kubectl/session.ts";
import { configuration, ruleFor, WebhookServer } from "./webhook-server.ts";
import type { Behaviour, HookChange } from "./webhook-server.ts";

const ACCOUNTS = ["serviceaccount-controller"];

describePeer("kubectl", "kubectl and webhooks", (path) => {
  let session: Session;
  let hooks: WebhookServer;
  let server: Server;
  let port = 0;

  beforeAll(async () => {
    hooks = await WebhookServer.make();
    server = createServer(await hooks.authority.leaf(["127.0.0.1"]), hooks.listener);
    port = await listening(server);
    session = await Session.start(path, { loops: ACCOUNTS, nodes: 0 });
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });

  interface Plan extends HookChange {
    readonly behaviour: Behaviour;
  }

  /** A webhook for the namespace of one test. */
  async function register(
    kubectl: Kubectl,
    type: "Mutating" | "Validating",
    { behaviour, clientConfig = {}, ...hook }: Plan,
  ): Promise<string> {
    const { namespace } = kubectl;
    const place = `/${namespace}/${type}`;
    hooks.on(place, behaviour);
    const caBundle = Buffer.from(hooks.authority.cert).toString("base64");
    const url = `https://127.0.0.1:${String(port)}${place}`;
    const plan = {
      rules: [ruleFor("configmaps", "*")],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      clientConfig: { url, caBundle, ...(clientConfig as object) },
      ...hook,
    };
    await kubectl.ok("apply", "-f", kubectl.file("hook.json", configuration(type, namespace, [plan])));
    return url;
  }

  function configMap(kubectl: Kubectl, data: object = { a: "1" }): string {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data };
    return kubectl.file("a.json", object);
  }

  test("apply shows what a webhook made of an object, and finds nothing to do the second time", async () => {
    const kubectl = session.namespace();
    const patch = [{ op: "add", path: "/data/added", value: "yes" }];
    await register(kubectl, "Mutating", { behaviour: () => ({ patch }) });
    const file = configMap(kubectl);

    expect(await kubectl.ok("apply", "-f", file)).toBe("configmap/a created\n");
    expect(await kubectl.ok("apply", "-f", file)).toBe("configmap/a unchanged\n");
    expect((await kubectl.json("get", "configmap", "a"))["data"]).toEqual({ a: "1", added: "yes" });
    expect(await kubectl.ok("apply", "--server-side", "--force-conflicts", "-f", file)).toBe(
      "configmap/a serverside-applied\n",
    );
  });

  test("a container that a webhook adds to a pod gets what every container gets", async () => {
    const kubectl = session.namespace();
    const added = { name: "sidecar", image: "example.com/sidecar" };
    await register(kubectl, "Mutating", {
      rules: [ruleFor("pods", "CREATE")],
      behaviour: ({ object }) => {
        const containers = listOf<unknown>(object?.["spec"]?.["containers"]);
        return containers.length > 1
          ? {}
          : { patch: [{ op: "add", path: "/spec/containers/-", value: added }] };
      },
    });

    await kubectl.ok("run", "web", "--image=example.com/web");

    const { spec } = (await kubectl.json("get", "pod", "web")) as JsonObject & {
      spec: { volumes: { name: string }[]; containers: { name: string; volumeMounts: { name: string }[] }[] };
    };
    const [token] = spec.volumes;
    expect(spec.volumes).toHaveLength(1);
    expect(
      spec.containers.map(({ name, volumeMounts }) => [name, volumeMounts.map((each) => each.name)]),
    ).toEqual([
      ["web", [token?.name]],
      ["sidecar", [token?.name]],
    ]);
  });

  test("create, scale and delete tell why a webhook refuses", async () => {
    const kubectl = session.namespace();
    await kubectl.ok("create", "configmap", "old");
    await kubectl.ok("create", "deployment", "web", "--image=example.com/web");
    await register(kubectl, "Validating", {
      rules: [
        ruleFor("configmaps", "CREATE", "DELETE"),
        { operations: ["*"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["*/scale"] },
      ],
      behaviour: ({ operation }) => ({
        allowed: false,
        status: { message: `no ${operation} here`, code: 403, reason: "Forbidden" },
      }),
    });
    const denied = `admission webhook "hook0.${kubectl.namespace}.example.com" denied the request`;

    expect(await kubectl.refused("create", "-f", configMap(kubectl))).toBe(
      `Error from server (Forbidden): error when creating "a.json": ${denied}: no CREATE here\n`,
    );
    expect(await kubectl.refused("delete", "configmap", "old")).toBe(
      `Error from server (Forbidden): ${denied}: no DELETE here\n`,
    );
    expect(await kubectl.refused("scale", "deployment", "web", "--replicas=5")).toContain(
      `${denied}: no UPDATE here`,
    );
  });

  test("warnings are printed", async () => {
    const kubectl = session.namespace();
    await register(kubectl, "Validating", { behaviour: () => ({ warnings: ["key a is going away"] }) });

    const { code, stderr } = await kubectl.run("create", "-f", configMap(kubectl));

    expect(code).toBe(0);
    expect(stderr).toContain("Warning: key a is going away\n");
  });

  test("a dry run asks webhooks, tells them so, and leaves nothing", async () => {
    const kubectl = session.namespace();
    const patch = [{ op: "add", path: "/data/added", value: "yes" }];
    await register(kubectl, "Mutating", { behaviour: () => ({ patch }) });

    const shown = await kubectl.json("create", "--dry-run=server", "-f", configMap(kubectl));

    expect(shown["data"]).toEqual({ a: "1", added: "yes" });
    expect(hooks.requests(`/${kubectl.namespace}/Mutating`).at(-1)).toMatchObject({
      dryRun: true,
      options: { kind: "CreateOptions", dryRun: ["All"], fieldManager: "kubectl-create" },
    });
    expect(await kubectl.refused("get", "configmap", "a")).toContain("NotFound");
  });

  test("a webhook with an untrusted certificate fails closed, or open with failurePolicy Ignore", async () => {
    const kubectl = session.namespace();
    const caBundle = Buffer.from((await makeAuthority("other")).cert).toString("base64");
    const behaviour: Behaviour = () => ({ allowed: false });
    const url = await register(kubectl, "Validating", { clientConfig: { caBundle }, behaviour });

    const refused = await kubectl.refused("create", "-f", configMap(kubectl));
    await register(kubectl, "Validating", { clientConfig: { caBundle }, failurePolicy: "Ignore", behaviour });
    const made = await kubectl.ok("create", "-f", configMap(kubectl));

    expect(refused).toBe(
      `Error from server (InternalError): error when creating "a.json": Internal error occurred: failed calling webhook ` +
        `"hook0.${kubectl.namespace}.example.com": failed to call webhook: Post "${url}?timeout=10s": ` +
        "tls: failed to verify certificate: x509: certificate signed by unknown authority\n",
    );
    expect(made).toBe("configmap/a created\n");
  });

  test("attach is refused before it is looked where the pod runs", async () => {
    const kubectl = session.namespace();
    await kubectl.ok("run", "web", "--image=example.com/web");
    await register(kubectl, "Validating", {
      rules: [ruleFor("pods/attach", "CONNECT")],
      behaviour: () => ({ allowed: false, status: { message: "nobody attaches here" } }),
    });

    expect(await kubectl.refused("attach", "web", "-i", "--pod-running-timeout=1s")).toContain(
      "nobody attaches here",
    );
  });

  test("a configuration with a condition that cannot be compiled is refused", async () => {
    const kubectl = session.namespace();
    const plan = {
      clientConfig: { url: "https://127.0.0.1:1/" },
      matchConditions: [{ name: "bad", expression: "object.metadata.name =" }],
    };
    const file = kubectl.file("hook.json", configuration("Mutating", kubectl.namespace, [plan]));

    const refused = await kubectl.refused("create", "-f", file);

    expect(refused).toContain("webhooks[0].matchConditions[0].expression: Invalid value");
    expect(refused).toContain("compilation failed");
  });
});

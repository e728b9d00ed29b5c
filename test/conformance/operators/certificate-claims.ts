/** Claims about the certificate manager of certificates.yaml, in order: all claims share the cluster, and the last one uninstalls it. */
import { X509Certificate } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { MutatingWebhookConfiguration } from "../../../src/api/generated/types/admissionregistration-v1.ts";
import { Lease } from "../../../src/api/generated/types/coordination-v1.ts";
import { Node, Secret } from "../../../src/api/generated/types/core-v1.ts";
import { ClusterRoleBinding } from "../../../src/api/generated/types/rbac-v1.ts";
import type { Client } from "../../../src/client/client.ts";
import type { Connection } from "../../../src/client/connection.ts";
import { makeAuthority } from "../../../src/server/egress/fixture.ts";
import { table } from "../kubectl/kubectl.ts";
import type { Kubectl } from "../kubectl/kubectl.ts";
import { certificateControllers, certificateHooks } from "./certificate-operator.ts";
import { documents } from "./fixture.ts";
import type { OperatorFixture } from "./fixture.ts";
import { holds, install, reasons, SOON } from "./installation.ts";
import type { Installation } from "./installation.ts";
import { OperatorRun, OperatorWebhooks } from "./operator-run.ts";

const FILE = "certificates";
const HOOKS = { mutating: "pki-webhook", validating: "pki-webhook" };
const LEASE = { namespace: "kube-system", name: "pki-controller" };

export interface CertificateScene {
  readonly world: OperatorFixture;
  readonly installation: Installation;
  readonly webhooks: OperatorWebhooks;
  /** Connection as the service account of its webhook server. */
  readonly injector: Connection;
  readonly operator: OperatorRun;
  readonly team: Kubectl;
}

export function certificateClaims(scene: () => CertificateScene): void {
  afterAll(async () => {
    await scene().operator[Symbol.asyncDispose]();
    await scene().webhooks[Symbol.asyncDispose]();
    await scene().injector.close();
  });
  installed(scene);
  atWork(scene);
  refusing(scene);
  permitted(scene);
  removed(scene);
}

/** Installs and starts the operator. */
export async function beginCertificates(world: OperatorFixture): Promise<CertificateScene> {
  const team = await world.team("web");
  const webhooks = await OperatorWebhooks.listen(certificateHooks);
  const installation = await install(world, {
    files: [FILE],
    namespace: "pki-system",
    early: () => team.refused("create", "-f", team.file("early.json", certificate("early"))),
    meanwhile: async () => {
      await using connection = await world.connectAs("pki-system", "pki-webhook");
      await webhooks.inject(connection.client, HOOKS, "trusted");
    },
  });
  const injector = await world.connectAs("pki-system", "pki-webhook");
  await webhooks.inject(injector.client, HOOKS, "reached");
  const controllers = certificateControllers(await makeAuthority("web-ca"));
  const connection = await world.connectAs("pki-system", "pki");
  const operator = OperatorRun.start(connection, { controllers, lease: LEASE });
  return { world, installation, webhooks, injector, operator, team };
}

function certificate(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: "pki.example.com/v1",
    kind: "Certificate",
    metadata: { name, ...metadata },
    spec: {
      secretName: `${name}-tls`,
      dnsNames: [`${name}.example.com`],
      issuerRef: { name: "ca" },
      ...spec,
    },
  };
}

function issuer(name: string, spec: object = { selfSigned: {} }): object {
  return { apiVersion: "pki.example.com/v1", kind: "Issuer", metadata: { name }, spec };
}

function installed(scene: () => CertificateScene): void {
  test("installs, and what is installed again does not change, nor what the operator has written since", () => {
    const { first, second, before, after } = scene().installation;

    expect(new Set(first.map(([, outcome]) => outcome))).toEqual(new Set(["created"]));
    expect(first).toHaveLength(25);
    // kubectl compares these lists as a whole, including the server's additions.
    expect(second.filter(([, outcome]) => outcome !== "unchanged")).toEqual([
      ["clusterrolebinding/pki-webhook", "configured"],
      ["mutatingwebhookconfiguration/pki-webhook", "configured"],
      ["validatingwebhookconfiguration/pki-webhook", "configured"],
    ]);
    expect(after).toEqual(before);
  });

  test("runs where only restricted pods may, and a pod that is not is refused there", async () => {
    const { installation, world } = scene();

    const refused = await world.kubectl
      .within("pki-system")
      .refused("run", "root", "--image=example.com/root");

    expect(installation.available).toEqual(["pki", "pki-webhook"]);
    expect(refused).toContain('violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false');
  });

  test("can be taken over by server-side apply, without a conflict", () => {
    const { first, takenOver } = scene().installation;

    expect(takenOver).toEqual(first.map(([object]) => [object, "serverside-applied"]));
  });

  test("refuses instances while its webhook does not answer", () => {
    expect(scene().installation.early).toContain(
      'failed calling webhook "webhook.pki.example.com": failed to call webhook: ' +
        'Post "https://pki-webhook.pki-system.svc:443/mutate?timeout=5s": no endpoints available for service "pki-webhook"',
    );
  });
}

function atWork(scene: () => CertificateScene): void {
  test("holds its lease under the name of its service account", async () => {
    const { operator, world } = scene();

    await holds(world.kubectl, LEASE, operator);

    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    expect(await operator.client.request({ method: "POST", path, body: review })).toMatchObject({
      status: {
        userInfo: {
          username: "system:serviceaccount:pki-system:pki",
          groups: ["system:serviceaccounts", "system:serviceaccounts:pki-system", "system:authenticated"],
        },
      },
    });
  });

  test("makes Secrets of certificates once their issuer is there", async () => {
    const { team } = scene();
    await team.ok("create", "-f", team.file("shop.json", certificate("shop")));
    await team.ok("wait", "--for=condition=Ready=False", "cert/shop", "--timeout=15s");
    await team.ok("create", "-f", team.file("ca.json", issuer("ca")));
    await team.ok("wait", "--for=condition=Ready", "cert/shop", "--timeout=15s");

    const { metadata, type } = await team.json("get", "secret", "shop-tls");
    const certificatePath = "jsonpath={.data.tls\\.crt}";
    const data = await team.ok("get", "secret", "shop-tls", "-o", certificatePath);
    const { uid } = (await team.json("get", "cert", "shop"))["metadata"] ?? {};

    expect(type).toBe("kubernetes.io/tls");
    expect(metadata?.["ownerReferences"]).toMatchObject([{ kind: "Certificate", name: "shop", uid }]);
    const issued = new X509Certificate(Buffer.from(data, "base64"));
    expect([issued.subjectAltName, issued.issuer]).toEqual(["DNS:shop.example.com", "CN=web-ca"]);
  });

  test("is shown by kubectl with its own columns, names and categories", async () => {
    const { team } = scene();

    expect(table(await team.ok("get", "certs", "-o", "wide"))).toEqual([
      ["NAME", "READY", "SECRET", "ISSUER", "STATUS", "AGE"],
      ["shop", "True", "shop-tls", "ca", "up to date", "AGE"],
    ]);
    expect(await team.ok("get", "pki", "-o", "name")).toBe(
      "certificate.pki.example.com/shop\nissuer.pki.example.com/ca\n",
    );
    expect(await team.ok("explain", "certificate.spec.secretName")).toContain(
      "The Secret in the same namespace",
    );
    expect(await team.ok("describe", "certificate", "shop")).toMatch(/Reason: +Issued/);
  });

  test("has what its schema and its webhook add", async () => {
    const { team, webhooks } = scene();

    const { metadata, spec } = await team.json("get", "certificate", "shop");

    expect(spec).toMatchObject({
      duration: "2160h",
      issuerRef: { kind: "Issuer", group: "pki.example.com" },
      privateKey: { algorithm: "ECDSA", rotationPolicy: "Always" },
      usages: ["digital signature", "key encipherment"],
    });
    expect(metadata?.["annotations"]).toMatchObject({ "pki.example.com/requested-by": "kubernetes-admin" });
    expect(webhooks.requests("/mutate")[0]).toMatchObject({
      operation: "CREATE",
      namespace: "web",
      resource: { group: "pki.example.com", version: "v1", resource: "certificates" },
      object: { spec: { duration: "2160h" } },
    });
  });
}

function refusing(scene: () => CertificateScene): void {
  test("refuses what its rules do not allow, each with its reason", async () => {
    const { team } = scene();
    const bad = documents([
      certificate("b1", { dnsNames: [] }),
      certificate("b2", { duration: "48h", renewBefore: "72h" }),
      certificate("b3", { privateKey: { algorithm: "RSA", size: 1024 } }),
      certificate("b4", { dnsNames: ["fine.example.com", "-bad", "a..b"] }),
      certificate("b5", { ipAddresses: ["300.1.1.1"] }),
      issuer("b6", { selfSigned: {}, ca: { secretName: "x" } }),
      issuer("b7", { acme: { server: "http://acme.example.com", privateKeySecretRef: { name: "k" } } }),
    ]);

    const refused = await team.refused("create", "-f", team.file("bad.yaml", bad));

    for (const why of [
      'Certificate.pki.example.com "b1" is invalid: spec: Invalid value: one of commonName, dnsNames and ipAddresses is needed',
      'Certificate.pki.example.com "b2" is invalid: spec.renewBefore: Invalid value: renewBefore 72h is not shorter than duration 48h',
      '"b3" is invalid: spec.privateKey: Invalid value: an RSA key has 2048 bits at least',
      'spec.dnsNames: Invalid value: not a name: ["-bad", "a..b"]',
      'spec.ipAddresses[0]: Invalid value: "300.1.1.1": must be an IP address',
      "spec: Invalid value: exactly one of selfSigned, ca and acme is needed",
      'spec.acme.server: Invalid value: "http://acme.example.com": must be an https URL',
    ])
      expect(refused).toContain(why);
    expect(await team.ok("get", "pki", "-o", "name")).not.toContain("/b");
  });

  test("refuses changes that must not be, and lets the others through", async () => {
    const { team } = scene();
    const patch = (spec: object): readonly string[] => [
      "patch",
      "cert",
      "shop",
      "--type=merge",
      "-p",
      JSON.stringify({ spec }),
    ];

    expect(await team.refused(...patch({ secretName: "other" }))).toContain("secretName is immutable");
    expect(await team.refused(...patch({ isCA: true }))).toContain("an authority stays one");
    await team.ok(...patch({ dnsNames: ["shop.example.com", "www.example.com"] }));
    await expect
      .poll(async () => (await team.json("get", "secret", "shop-tls"))["metadata"]?.["annotations"], SOON)
      .toMatchObject({ "pki.example.com/names": "shop.example.com,www.example.com" });
  });

  test("has its webhook refuse with a reason, except what is not to be checked", async () => {
    const { team } = scene();
    const foreign = { dnsNames: ["a.example.invalid"] };
    const exempt = { labels: { "pki.example.com/unchecked": "true" } };

    expect(
      await team.refused("create", "-f", team.file("f.json", certificate("foreign", foreign))),
    ).toContain(
      'admission webhook "webhook.pki.example.com" denied the request: not ours: a.example.invalid',
    );
    const file = team.file("x.json", certificate("exempt", foreign, exempt));
    await team.ok("create", "-f", file);
    await team.ok("delete", "-f", file);
  });
}

function permitted(scene: () => CertificateScene): void {
  test("may be used by editors, and only read by viewers", async () => {
    const { team } = scene();
    const file = team.file("mine.json", certificate("mine"));

    const refused = await team.refused("create", "-f", file, "--as=viewor");
    await team.ok("create", "-f", file, "--as=editor");

    expect(refused).toContain(
      'User "viewor" cannot create resource "certificates" in API group "pki.example.com"',
    );
    expect(await team.ok("get", "certificates", "-o", "name", "--as=viewor")).toContain("/mine");
    const path = "jsonpath={.metadata.annotations.pki\\.example\\.com/requested-by}";
    expect(await team.ok("get", "certificate", "mine", "-o", path)).toBe("editor");
    expect(await team.refused("get", "clusterissuers", "--as=editor")).toContain("(Forbidden)");
  });

  test("is refused itself what its roles do not give it", async () => {
    const { operator, injector, world } = scene();
    const binding = {
      metadata: { name: "pki-takes-all" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "ServiceAccount", name: "pki", namespace: "pki-system" }],
    } as const;
    const tries = async (client: Client): Promise<readonly string[]> =>
      await reasons([
        client(Node).list(),
        client(ClusterRoleBinding).create(binding),
        client(Lease).get({ namespace: "kube-system", name: "kube-scheduler" }),
        client(Lease).delete(LEASE),
      ]);

    expect(await tries(operator.client)).toEqual(Array.from({ length: 4 }, () => "Forbidden"));
    expect(await reasons([injector.client(Secret).list({ namespace: "web" })])).toEqual(["Forbidden"]);
    expect(await world.kubectl.refused("get", "clusterrolebinding", "pki-takes-all")).toContain("NotFound");
    expect(operator.refusals).toEqual([]);
  });
}

function removed(scene: () => CertificateScene): void {
  test("leaves nothing behind, although it no longer answers, and no token that is good for anything", async () => {
    const { world, team, operator, webhooks, injector } = scene();
    await operator[Symbol.asyncDispose]();
    await webhooks[Symbol.asyncDispose]();
    const own = injector.client(MutatingWebhookConfiguration);
    const before = await reasons([own.get({ name: "pki-webhook" })]);

    await scene().installation.remove();

    await expect.poll(() => team.ok("get", "secrets", "-o", "name"), SOON).toBe("");
    const after = await reasons([own.get({ name: "pki-webhook" })]);
    expect([...before, ...after]).toEqual(["allowed", "Unauthorized"]);
    expect(await team.refused("get", "certificates")).toContain(
      "the server could not find the requested resource",
    );
    expect(
      await world.kubectl.ok("get", "clusterrole", "edit", "-o", "jsonpath={.rules[*].apiGroups}"),
    ).not.toContain("pki");
    expect(await world.kubectl.ok("api-resources", "--api-group=pki.example.com", "-o", "name")).toBe("");
  });
}

import { expect, test } from "vitest";
import type { Suite } from "./suite.ts";

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 1
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c, image: i}]}
`;
const UNKNOWN = DEPLOYMENT.replace("  replicas: 1", "  replicas: 1\n  foo: 1").replace(
  "image: i",
  "image: i, imagee: x",
);

export function refusalClaims(suite: Suite): void {
  structure(suite);
  rules(suite);
  places(suite);
}

function structure({ namespace, since }: Suite): void {
  since(27)("unknown fields are refused, all at once", async () => {
    const kubectl = namespace();

    expect(await kubectl.refused("create", "-f", kubectl.file("d.yaml", UNKNOWN), "--validate=strict")).toBe(
      'Error from server (BadRequest): error when creating "d.yaml": ' +
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: ' +
        'unknown field "spec.foo", unknown field "spec.template.spec.containers[0].imagee"\n',
    );
  });

  since(27)("with --validate=warn unknown fields are a warning each, and are dropped", async () => {
    const kubectl = namespace();

    const file = kubectl.file("d.yaml", UNKNOWN);
    const { code, stderr } = await kubectl.run("create", "-f", file, "--validate=warn");

    expect([code, stderr]).toEqual([
      0,
      'Warning: unknown field "spec.foo"\nWarning: unknown field "spec.template.spec.containers[0].imagee"\n',
    ]);
    expect((await kubectl.json("get", "deployment", "d"))["spec"]).not.toHaveProperty("foo");
  });

  since(27)("with --validate=ignore unknown fields are dropped in silence", async () => {
    const kubectl = namespace();

    const file = kubectl.file("d.yaml", UNKNOWN);
    const { code, stderr } = await kubectl.run("create", "-f", file, "--validate=ignore");

    expect([code, stderr]).toEqual([0, ""]);
  });

  since(27)("server-side apply refuses unknown fields too", async () => {
    const kubectl = namespace();

    expect(await kubectl.refused("apply", "--server-side", "-f", kubectl.file("d.yaml", UNKNOWN))).toMatch(
      /^Error from server(?: \(BadRequest\))?: failed to create typed patch object .*\.spec\.foo: field not declared in schema/s,
    );
  });

  since(27)("a value of the wrong type is named as Go names it", async () => {
    const kubectl = namespace();
    const file = kubectl.file("d.yaml", DEPLOYMENT.replace("replicas: 1", "replicas: two"));

    expect(await kubectl.refused("create", "-f", file)).toBe(
      'Error from server (BadRequest): error when creating "d.yaml": Deployment in version "v1" cannot be handled ' +
        "as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32\n",
    );
  });
}

function rules({ namespace }: Suite): void {
  test("all problems of an object are told at once", async () => {
    const kubectl = namespace();
    const wrong = DEPLOYMENT.replace("name: d", "name: D_").replace("replicas: 1", "replicas: -1");

    const said = await kubectl.refused("create", "-f", kubectl.file("d.yaml", wrong));

    expect(said).toMatch(/^The Deployment "D_" is invalid: \n\* metadata\.name: Invalid value: "D_": /);
    expect(said).toContain("\n* spec.replicas: Invalid value: -1: must be greater than or equal to 0");
  });

  test("a selector that does not match the template is refused", async () => {
    const kubectl = namespace();
    const wrong = DEPLOYMENT.replace("matchLabels: {app: x}", "matchLabels: {app: z}");

    expect(await kubectl.refused("create", "-f", kubectl.file("d.yaml", wrong))).toBe(
      'The Deployment "d" is invalid: spec.template.metadata.labels: Invalid value: {"app":"x"}: ' +
        "`selector` does not match template `labels`\n",
    );
  });

  test("a pod may not change its containers", async () => {
    const kubectl = namespace();
    await kubectl.ok("run", "p", "--image=i");
    const patch = '{"spec":{"containers":[{"name":"p","command":["x"]}]}}';

    expect(await kubectl.refused("patch", "pod", "p", "-p", patch)).toMatch(
      /^The Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than /,
    );
  });

  test("an immutable ConfigMap stays as it is", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c", "--from-literal=a=1");
    await kubectl.ok("patch", "configmap", "c", "-p", '{"immutable":true}');

    expect(await kubectl.refused("patch", "configmap", "c", "-p", '{"data":{"a":"2"}}')).toBe(
      'The ConfigMap "c" is invalid: data: Forbidden: field is immutable when `immutable` is set\n',
    );
  });
}

function places({ namespace }: Suite): void {
  test("an unknown kind is an error of one line", async () => {
    const kubectl = namespace();

    expect(await kubectl.refused("get", "nonsense")).toBe(
      'error: the server doesn\'t have a resource type "nonsense"\n',
    );
  });

  test("a file of an unknown kind is refused", async () => {
    const kubectl = namespace();
    const file = kubectl.file("f.yaml", "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: f}\n");

    expect(await kubectl.refused("create", "-f", file)).toMatch(
      /no matches for kind "Foo" in version "example\.com\/v1"/,
    );
  });

  test("an unknown field selector is refused with the names there are", async () => {
    expect(await namespace().refused("get", "cm", "--field-selector", "data.a=1")).toMatch(
      /^Error from server \(BadRequest\): Unable to find "\/v1, Resource=configmaps" that match .*field selector "data\.a=1"/,
    );
  });

  test("nothing is created in a namespace that does not exist", async () => {
    expect(await namespace().within("none").refused("create", "configmap", "c")).toMatch(
      /^(error: failed to create configmap|Error from server \(NotFound\)): namespaces "none" not found\n$/,
    );
  });

  test("an object for another namespace is refused", async () => {
    const kubectl = namespace();
    const metadata = { name: "c", namespace: "elsewhere" };
    const file = kubectl.file("c.json", { apiVersion: "v1", kind: "ConfigMap", metadata });

    expect(await kubectl.refused("create", "-f", file)).toContain(
      'the namespace from the provided object "elsewhere" does not match the namespace ' +
        `"${kubectl.namespace}"`,
    );
  });
}

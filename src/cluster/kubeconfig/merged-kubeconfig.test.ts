import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { entriesOf } from "./kubeconfig.ts";
import { ownedContexts, withContext, withoutContext } from "./merged-kubeconfig.ts";
import type { KubeconfigEdit } from "./merged-kubeconfig.ts";

const ACCESS = { server: "https://127.0.0.1:6443", ca: "ca", user: { cert: "cert", key: "key" } };
const OURS = { name: "setpoint", dataDir: "/home/jo/.setpoint" };

const FOREIGN = `# my clusters
apiVersion: v1
clusters:
- cluster: {server: "https://work", certificate-authority-data: ${"QUFB".repeat(60)}}
  name: work # do not touch
contexts:
- context:
    cluster: work
    namespace: team
    user: jo
  name: work
current-context: work
kind: Config
preferences: {colors: true}
users:
- name: jo
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: get-token, args: [a, "b c"]}
`;

interface Parsed {
  readonly [key: string]: unknown;
  readonly contexts: readonly { readonly name: string }[];
}

describe("a context in a kubeconfig", () => {
  test("makes a complete kubeconfig of an empty file", () => {
    const value = parsed(merge(""));

    expect(value).toMatchObject({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "setpoint",
      clusters: [{ name: "setpoint", cluster: { server: "https://127.0.0.1:6443" } }],
      contexts: [{ name: "setpoint", context: { cluster: "setpoint", user: "setpoint" } }],
      users: [{ name: "setpoint", user: { "client-key-data": btoa("key") } }],
    });
  });

  test("leaves everything else as it was, comments and the current context included", () => {
    const text = written(merge(FOREIGN));

    expect(parsed(merge(FOREIGN))["current-context"]).toBe("work");
    expect(text).toContain("# my clusters\n");
    expect(text).toContain("name: work # do not touch\n");
    expect(text).toContain("QUFB".repeat(60));
    expect(parse(written(withoutContext(text, OURS.dataDir)))).toEqual(parse(FOREIGN));
  });

  test("is current only where no other is", () => {
    const none = FOREIGN.replace("current-context: work", 'current-context: ""');

    expect(parsed(merge(none))["current-context"]).toBe("setpoint");
  });

  test("is renewed by its own cluster, also under a new name", () => {
    const once = written(merge(FOREIGN));
    const twice = parsed(withContext(once, { ...OURS, name: "dev" }, entriesOf({ ...ACCESS, name: "dev" })));

    expect(twice.contexts.map(({ name }) => name)).toEqual(["work", "dev"]);
    expect(merge(once)).toEqual({ type: "unchanged", current: "work" });
  });

  test("goes with the current context that names it", () => {
    expect(parsed(withoutContext(written(merge("")), OURS.dataDir))).toEqual({
      apiVersion: "v1",
      kind: "Config",
      clusters: [],
      contexts: [],
      users: [],
    });
  });

  test("of another data dir stays", () => {
    const theirs = written(merge("", { ...OURS, dataDir: "/tmp/demo" }));

    expect(merge(theirs)).toEqual({
      type: "refused",
      reason: 'has "setpoint" of the cluster in /tmp/demo already: choose another name with --name',
    });
    expect(withoutContext(theirs, OURS.dataDir)).toMatchObject({ type: "unchanged" });
    expect(ownedContexts(theirs)).toEqual([{ name: "setpoint", dataDir: "/tmp/demo" }]);
  });

  test.each(["clusters", "contexts", "users"])("does not replace a foreign entry in %s", (list) => {
    const text = `${list}: [{name: setpoint}]`;

    expect(merge(text)).toMatchObject({ type: "refused", reason: /of another program already/ });
  });

  test("is added to JSON and to lists that are null", () => {
    expect(parsed(merge('{"kind":"Config","contexts":[],"users":null}')).contexts).toHaveLength(1);
  });

  test.each([
    ["clusters: [", /^is not valid YAML \(line 1: .*\): mend it$/],
    ["a: 1\n---\nb: 2", /expected one YAML document/],
    ["- 1", /expected clusters, users and contexts/],
    ["kind: Pod", /its kind is "Pod"/],
    ["users: {}", /users is not a list/],
  ])("is not added to %j", (text, reason) => {
    expect(merge(text)).toEqual({ type: "refused", reason: expect.stringMatching(reason) as string });
    expect(withoutContext(text, OURS.dataDir).type).toBe("refused");
  });
});

function merge(text: string, context = OURS): KubeconfigEdit {
  return withContext(text, context, entriesOf(ACCESS));
}

function written(edit: KubeconfigEdit): string {
  if (edit.type !== "write") throw new Error(`expected a new text, found ${JSON.stringify(edit)}`);
  return edit.text;
}

function parsed(edit: KubeconfigEdit): Parsed {
  return parse(written(edit)) as Parsed;
}

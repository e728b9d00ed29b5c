import { expect, test } from "vitest";
import { table } from "./kubectl.ts";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

function map(name: string, data: Record<string, string>, labels: Record<string, string> = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels }, data };
}

/** Three ConfigMaps: red ones a and c, and b. */
async function withMaps(kubectl: Kubectl): Promise<Kubectl> {
  const items = [
    map("a", { k: "3" }, { colour: "red", size: "big" }),
    map("b", { k: "1", l: "x" }, { colour: "blue" }),
    map("c", { k: "2" }, { colour: "red" }),
  ];
  await kubectl.ok("create", "-f", kubectl.file("maps.json", { apiVersion: "v1", kind: "List", items }));
  return kubectl;
}

export function getClaims(suite: Suite): void {
  formats(suite);
  choices(suite);
  tables(suite);
  watches(suite);
}

function formats({ namespace, since }: Suite): void {
  test("a table shows the columns of the kind", async () => {
    const kubectl = await withMaps(namespace());

    expect(table(await kubectl.ok("get", "configmaps"))).toEqual([
      ["NAME", "DATA", "AGE"],
      ["a", "1", "AGE"],
      ["b", "2", "AGE"],
      ["c", "1", "AGE"],
    ]);
  });

  since(21)("JSON holds the object with what the server decided, without managedFields", async () => {
    const kubectl = await withMaps(namespace());

    const object = await kubectl.json("get", "configmap", "a");

    expect(object).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "a",
        namespace: kubectl.namespace,
        labels: { colour: "red", size: "big" },
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
        resourceVersion: expect.stringMatching(/^\d+$/) as unknown,
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as unknown,
      },
      data: { k: "3" },
    });
  });

  test("a list as JSON is a List of the objects", async () => {
    const kubectl = await withMaps(namespace());

    const list = await kubectl.json("get", "configmaps");

    expect(list).toMatchObject({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: "" } });
    expect(list["items"]).toHaveLength(3);
    expect(list["items"]?.[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { k: "3" } });
  });

  test.each([
    ["yaml", /^apiVersion: v1\ndata:\n {2}k: "3"\nkind: ConfigMap\nmetadata:\n/],
    ["name", /^configmap\/a\n$/],
    ["jsonpath={.data.k}", /^3$/],
    ["jsonpath-as-json={.data}", /^\[\s+\{\s+"k": "3"\s+\}\s+\]\n$/],
    ["custom-columns=NAME:.metadata.name,K:.data.k", /^NAME +K\na +3\n$/],
    ["go-template={{.data.k}}", /^3$/],
  ])("-o %s shows an object that way", async (format, expected) => {
    const kubectl = await withMaps(namespace());

    expect(await kubectl.ok("get", "configmap", "a", "-o", format)).toMatch(expected);
  });

  since(21)("--show-managed-fields tells who wrote what", async () => {
    const kubectl = await withMaps(namespace());

    const { metadata } = await kubectl.json("get", "configmap", "a", "--show-managed-fields");

    expect(metadata?.["managedFields"]).toMatchObject([
      { manager: "kubectl-create", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1" },
    ]);
    expect(metadata?.["managedFields"]?.[0]?.["fieldsV1"]).toEqual({
      "f:data": { ".": {}, "f:k": {} },
      "f:metadata": { "f:labels": { ".": {}, "f:colour": {}, "f:size": {} } },
    });
  });
}

function choices({ namespace }: Suite): void {
  test.each([
    ["colour=red", "configmap/a\nconfigmap/c\n"],
    ["colour!=red", "configmap/b\n"],
    ["colour in (blue,green)", "configmap/b\n"],
    ["colour notin (blue),size", "configmap/a\n"],
    ["!size,colour=red", "configmap/c\n"],
  ])("-l %s chooses by labels", async (selector, expected) => {
    const kubectl = await withMaps(namespace());

    expect(await kubectl.ok("get", "cm", "-l", selector, "-o", "name")).toBe(expected);
  });

  test("--field-selector chooses by the fields of the kind", async () => {
    const kubectl = await withMaps(namespace());
    await kubectl.ok("create", "secret", "generic", "s");
    await kubectl.ok("create", "secret", "generic", "t", "--type=example.com/t");

    expect(await kubectl.ok("get", "cm", "--field-selector", "metadata.name!=a", "-o", "name")).toBe(
      "configmap/b\nconfigmap/c\n",
    );
    expect(await kubectl.ok("get", "secrets", "--field-selector", "type=Opaque", "-o", "name")).toBe(
      "secret/s\n",
    );
  });

  test("-A shows all namespaces, each with its name", async () => {
    const kubectl = await withMaps(namespace());
    const other = namespace();
    await other.ok("create", "configmap", "only-here");

    const rows = table(await kubectl.ok("get", "configmaps", "-A"));

    expect(rows[0]).toEqual(["NAMESPACE", "NAME", "DATA", "AGE"]);
    expect(rows).toContainEqual([kubectl.namespace, "a", "1", "AGE"]);
    expect(rows).toContainEqual([other.namespace, "only-here", "0", "AGE"]);
  });

  test("--sort-by orders by a field", async () => {
    const kubectl = await withMaps(namespace());

    const sorted = await kubectl.ok("get", "cm", "--sort-by=.data.k");

    expect(table(sorted).map(([name]) => name)).toEqual(["NAME", "b", "c", "a"]);
  });

  test("--chunk-size reads in pieces and misses nothing", async () => {
    const kubectl = await withMaps(namespace());

    const { stdout, stderr } = await kubectl.run("get", "cm", "--chunk-size=1", "-v=6");

    expect(table(stdout).map(([name]) => name)).toEqual(["NAME", "a", "b", "c"]);
    expect(stderr.match(/configmaps\?(continue=[\w%-]+&)?limit=1/g)).toHaveLength(3);
  });

  test("several kinds are shown one after the other, with their names", async () => {
    const kubectl = await withMaps(namespace());
    await kubectl.ok("create", "secret", "generic", "s");

    expect(await kubectl.ok("get", "cm/a", "secret/s", "-o", "name")).toBe("configmap/a\nsecret/s\n");
    expect(await kubectl.ok("get", "cm,secret")).toMatch(/^NAME[^]*configmap\/a[^]*\n\nNAME[^]*secret\/s/);
  });
}

function tables({ namespace }: Suite): void {
  test("all shows what belongs to the category", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "deployment", "web", "--image=nginx:1");
    await kubectl.ok("create", "configmap", "not-shown");

    expect(await kubectl.ok("get", "all", "-o", "name")).toBe("deployment.apps/web\n");
  });

  test("-o wide adds columns", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "deployment", "web", "--image=nginx:1", "--replicas=2");

    expect(table(await kubectl.ok("get", "deployments", "-o", "wide"))).toEqual([
      ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"],
      ["web", "0/2", "0", "0", "AGE", "nginx", "nginx:1", "app=web"],
    ]);
  });

  test("--show-labels and -L add labels to a table", async () => {
    const kubectl = await withMaps(namespace());

    expect(table(await kubectl.ok("get", "cm", "a", "--show-labels", "-L", "size"))).toEqual([
      ["NAME", "DATA", "AGE", "SIZE", "LABELS"],
      ["a", "1", "AGE", "big", "colour=red,size=big"],
    ]);
  });

  test("an empty namespace has no resources, and saying so is no error", async () => {
    const kubectl = namespace();

    const { code, stdout, stderr } = await kubectl.run("get", "configmaps");

    expect([code, stdout, stderr]).toEqual([
      0,
      "",
      `No resources found in ${kubectl.namespace} namespace.\n`,
    ]);
  });

  test("what is not there is an error, unless that is ignored", async () => {
    const kubectl = namespace();

    expect(await kubectl.refused("get", "cm", "none")).toBe(
      'Error from server (NotFound): configmaps "none" not found\n',
    );
    expect(await kubectl.ok("get", "cm", "none", "--ignore-not-found")).toBe("");
  });
}

function watches({ namespace }: Suite): void {
  test("-w shows each change as it comes", async () => {
    const kubectl = await withMaps(namespace());
    const seen: string[] = [];

    for await (const line of kubectl.lines("get", "cm", "-w", "--output-watch-events")) {
      seen.push(line.split(/ {2,}/).slice(0, 3).join(" "));
      if (seen.length === 4) await kubectl.ok("patch", "cm", "b", "-p", '{"data":{"m":"y"}}');
      if (seen.length === 5) await kubectl.ok("delete", "cm", "b");
      if (seen.length === 6) break;
    }

    expect(seen).toEqual([
      "EVENT NAME DATA",
      "ADDED a 1",
      "ADDED b 2",
      "ADDED c 1",
      "MODIFIED b 3",
      "DELETED b 3",
    ]);
  });

  test("-w -o json of one object shows only that one", async () => {
    const kubectl = await withMaps(namespace());
    const seen: string[] = [];

    for await (const line of kubectl.lines("get", "cm", "a", "-w", "-o", "jsonpath={.data.k}{'\\n'}")) {
      seen.push(line);
      if (line === "5") break;
      await kubectl.ok("patch", "cm", "b", "-p", '{"data":{"k":"4"}}');
      await kubectl.ok("patch", "cm", "a", "-p", '{"data":{"k":"5"}}');
    }

    expect(seen).toEqual(["3", "5"]);
  });
}

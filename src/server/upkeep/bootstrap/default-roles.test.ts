import { beforeAll, describe, expect, test } from "vitest";
import { requireStored } from "../../objects/registry.ts";
import { listAt, ServerFixture, textAt } from "../fixture.ts";
import { ServerWriter } from "../server-writer.ts";

const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

describe("default roles and bindings", () => {
  let fixture: ServerFixture;
  beforeAll(async () => {
    fixture = await ServerFixture.start();
  });

  async function restarted(): Promise<void> {
    await ServerFixture.start({ store: fixture.verbParts.store });
  }

  test("a start that finds the roles in place writes nothing", async () => {
    const { revision } = fixture.verbParts.store.view;

    await restarted();

    expect(fixture.verbParts.store.view.revision).toBe(revision);
  });

  test("a start restores removed rules and keeps added ones", async () => {
    const added = { apiGroups: ["example.com"], resources: ["widgets"], verbs: ["get"] };
    await fixture.patch(`${ROLES}/system:basic-user`, { rules: [added] });

    await restarted();

    const { body } = await fixture.send("GET", `${ROLES}/system:basic-user`);
    const rules = listAt<{ readonly resources: readonly string[] }>(body, "rules");
    const resources = rules.flatMap((rule) => rule.resources);
    expect(resources).toContain("widgets");
    expect(resources).toContain("selfsubjectaccessreviews");
  });

  test("a start leaves roles alone that opt out by annotation", async () => {
    const annotations = { "rbac.authorization.kubernetes.io/autoupdate": "false" };
    await fixture.patch(`${ROLES}/system:discovery`, { metadata: { annotations }, rules: [] });

    await restarted();

    const { body } = await fixture.send("GET", `${ROLES}/system:discovery`);
    expect(listAt(body, "rules")).toEqual([]);
  });

  test("a start recreates a binding to another role and adds the missing subjects", async () => {
    const resource = requireStored(
      fixture.verbParts.registry,
      "rbac.authorization.k8s.io",
      "clusterrolebindings",
    );
    const place = { resource, namespace: "", name: "system:monitoring" };
    await fixture.send("DELETE", `${BINDINGS}/${place.name}`);
    await new ServerWriter(fixture.verbParts).create(place, {
      metadata: { name: place.name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    });

    await restarted();

    const { body } = await fixture.send("GET", `${BINDINGS}/${place.name}`);
    expect(textAt(body, "roleRef", "name")).toBe("system:monitoring");
    expect(listAt(body, "subjects")).toHaveLength(1);
  });

  test("an aggregated role keeps its aggregated rules", async () => {
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
    await fixture.patch(`${ROLES}/view`, { rules, aggregationRule: { clusterRoleSelectors: [{}] } });

    await restarted();

    const { body } = await fixture.send("GET", `${ROLES}/view`);
    expect(listAt(body, "rules")).toEqual(rules);
    expect(listAt(body, "aggregationRule", "clusterRoleSelectors")).toHaveLength(2);
  });
});

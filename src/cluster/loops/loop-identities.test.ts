import { describe, expect, test } from "vitest";
import { controllers, routines } from "../../controllers/index.ts";
import { defaultRoles } from "../../server/access/authz/rbac/default-roles.ts";
import { actorIdentity, groupIdentity } from "./loop-identities.ts";
import { builtInGroups } from "./loops.ts";

/** Subjects of the default bindings. */
function knownUsers(): ReadonlySet<string> {
  const subjects = defaultRoles().flatMap((role) => ("roleRef" in role ? (role.subjects ?? []) : []));
  return new Set(
    subjects.map(({ kind, name, namespace = "" }) =>
      kind === "ServiceAccount" ? `system:serviceaccount:${namespace}:${name}` : name,
    ),
  );
}

describe("a built-in loop", () => {
  const known = knownUsers();

  test.each([...controllers.map(({ definition }) => definition.name), ...routines.map(({ name }) => name)])(
    "%s acts as a user that has role bindings",
    (name) => {
      const { user, groups } = actorIdentity("controllers", name);

      expect([...known]).toContain(user);
      expect(groups).not.toContain("system:masters");
    },
  );

  test.each(["controllers", "scheduler", "nodes"])(
    "of the group %s has no more rights than its part",
    (group) => {
      expect([...known]).toContain(groupIdentity(group).user);
      expect(groupIdentity(group).groups).toEqual([]);
    },
  );

  test("of the scheduler acts as the scheduler", () => {
    const [scheduler] = builtInGroups("all").scheduler.routines ?? [];

    expect(actorIdentity("scheduler", scheduler?.name ?? "").user).toBe("system:kube-scheduler");
  });
});

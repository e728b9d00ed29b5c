import { describe, expect, test } from "vitest";
import { portVariables, resolveUser } from "./surroundings.ts";

const NONE = { uid: undefined, gid: undefined, supplementalGroups: [] };

describe("the user of a container", () => {
  test("may be any for root", () => {
    const user = { uid: 1000, gid: 1001, supplementalGroups: [7] };

    expect(resolveUser(user, { uid: 0, gid: 0 })).toEqual({ uid: 1000, gid: 1001, groups: [7] });
  });

  test.each([NONE, { ...NONE, uid: 500 }, { uid: 500, gid: 501, supplementalGroups: [7] }])(
    "may be the agent's own: %j",
    (user) => {
      expect(resolveUser(user, { uid: 500, gid: 501 })).toEqual({
        uid: undefined,
        gid: undefined,
        groups: [],
      });
    },
  );

  test("may be no other for a user, and the message says what to do", () => {
    expect(() => resolveUser({ ...NONE, uid: 0 }, { uid: 500, gid: 501 })).toThrow(
      "user 0 and group 501 are not permitted: setpoint runs as user 500, group 501; run it as root",
    );
  });
});

test("ports on a shared network are in PORT and in a variable for each name", () => {
  const port = (name: string | undefined, containerPort: number) =>
    ({ name, containerPort, hostPort: undefined, protocol: "TCP" }) as const;

  const variables = portVariables([port("http-api", 80), port(undefined, 81)], new Map([[80, 40_001]]));

  expect(variables).toEqual([
    ["PORT", "40001"],
    ["PORT_HTTP_API", "40001"],
  ]);
});

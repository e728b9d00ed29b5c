import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../base/loop/random.ts";
import * as names from "./names.ts";

const LABEL_PATTERN =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_PATTERN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_PART_PATTERN =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

describe("valid names", () => {
  test.each([
    [names.dns1123Label, "a"],
    [names.dns1123Label, "0-a"],
    [names.dns1123Label, "a".repeat(63)],
    [names.dns1123Subdomain, "a.b-c.0"],
    [names.dns1035Label, "web-0"],
    [names.wildcardSubdomain, "*.example.com"],
    [names.qualifiedName, "app"],
    [names.qualifiedName, "kubernetes.io/Some_Name.1"],
    [names.qualifiedName, "constructor"],
    [names.labelValue, ""],
    [names.labelValue, "My_value.1-x"],
    [names.pathSegmentName, "system:node:a b"],
    [names.portName, "http-2"],
    [names.envVarName, "MY VAR-1.x"],
    [names.strictEnvVarName, "my.env-name"],
    [names.configMapKey, "key_1.conf"],
    [names.configMapKey, "__proto__"],
    [names.httpHeaderName, "X-Header-1"],
    [names.cronJobName, "a".repeat(52)],
    [names.cIdentifier, "_a1"],
    [names.percentage, "25%"],
    [names.prefixOf(names.dns1123Label), "web-"],
    [names.prefixOf(names.dns1035Label), "w-"],
  ])("%# %s", (rule, name) => {
    expect(rule(name)).toEqual([]);
  });
});

describe("invalid names", () => {
  test.each<[names.NameRule, string, string[]]>([
    [names.dns1123Label, "A", [LABEL_PATTERN]],
    [names.dns1123Label, "", [LABEL_PATTERN]],
    [names.dns1123Label, "a\n", [LABEL_PATTERN]],
    [names.dns1123Label, "a.b", ["must not contain dots"]],
    [names.dns1123Label, "a".repeat(64), ["must be no more than 63 characters"]],
    [names.dns1123Subdomain, "a..b", [SUBDOMAIN_PATTERN]],
    [names.dns1123Subdomain, "a".repeat(254), ["must be no more than 253 characters"]],
    [names.qualifiedName, "", ["name part must be non-empty", NAME_PART_PATTERN]],
    [names.qualifiedName, "/a", ["prefix part must be non-empty"]],
    [names.qualifiedName, "A/a", [`prefix part ${SUBDOMAIN_PATTERN}`]],
    [names.qualifiedName, "-a", [NAME_PART_PATTERN]],
    [names.qualifiedName, "__proto__", [NAME_PART_PATTERN]],
    [names.qualifiedName, "a".repeat(64), ["name part must be no more than 63 bytes"]],
    [names.qualifiedName, `${"a".repeat(254)}/a`, ["prefix part must be no more than 253 bytes"]],
    [names.labelValue, "a".repeat(64), ["must be no more than 63 bytes"]],
    [
      names.qualifiedName,
      "a/b/c",
      [
        `a valid label key ${NAME_PART_PATTERN.slice("name part ".length)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
      ],
    ],
    [names.pathSegmentName, "..", ["may not be '..'"]],
    [names.pathSegmentName, "a/%", ["may not contain '/'", "may not contain '%'"]],
    [
      names.portName,
      "",
      [
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        "must contain at least one letter (a-z)",
      ],
    ],
    [
      names.portName,
      "a--b-",
      ["must not contain consecutive hyphens", "must not begin or end with a hyphen"],
    ],
    [names.portName, "a".repeat(16), ["must be no more than 15 characters"]],
    [names.envVarName, "", ["environment variable name must be non-empty"]],
    [
      names.envVarName,
      "a=b",
      ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
    ],
    [names.configMapKey, "..", ["must not be '..'"]],
    [names.configMapKey, "..a", ["must not start with '..'"]],
    [names.cronJobName, "a".repeat(53), ["must be no more than 52 characters"]],
  ])("%# %s", (rule, name, problems) => {
    expect(rule(name)).toEqual(problems);
  });

  test("ports lie between 1 and 65535", () => {
    expect(names.portNumber(80)).toEqual([]);
    expect(names.portNumber(0)).toEqual(["must be between 1 and 65535, inclusive"]);
    expect(names.portNumber(65_536)).toEqual(["must be between 1 and 65535, inclusive"]);
  });

  test("no rule is slow on an extremely long name", () => {
    const absurd = [
      "a".repeat(3_000_000),
      `${"a".repeat(200_000)}!`,
      `${"a-".repeat(100_000)}!`,
      `${"a.".repeat(100_000)}!`,
      "/".repeat(1_000_000),
    ];
    const before = process.cpuUsage();
    for (const name of absurd) {
      for (const rule of Object.values(names)) {
        if (rule.length === 1 && rule !== names.portNumber) (rule as names.NameRule)(name);
      }
    }
    const spent = process.cpuUsage(before);

    expect(spent.user + spent.system).toBeLessThan(absurd.length * 100_000);
  });
});

describe("generateName", () => {
  test("adds five characters without vowels and keeps the name a label", () => {
    const random = seededRandom(1);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][-a-z0-9]{0,80}$/), (base) => {
        const name = names.generateName(base, random);

        expect(name).toMatch(/[bcdfghjklmnpqrstvwxz2456789]{5}$/);
        expect(name.length).toBe(Math.min(base.length, 58) + 5);
        expect(names.dns1123Label(name)).toEqual([]);
      }),
    );
  });
});

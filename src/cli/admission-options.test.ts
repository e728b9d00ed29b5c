import { describe, expect, test } from "vitest";
import { parseAdmission } from "./admission-options.ts";
import { UsageError } from "./command.ts";

function parse(options: Readonly<Record<string, string>>): ReturnType<typeof parseAdmission> {
  const path = (name: string): string | undefined => (name in options ? `/etc/${options[name]}` : undefined);
  return parseAdmission({ operands: {}, rest: [], options }, path);
}

describe("parseAdmission", () => {
  test("reads plugin names separated by commas, and a file", () => {
    const options = {
      enableAdmissionPlugins: "AlwaysPullImages, DenyServiceExternalIPs",
      disableAdmissionPlugins: "PodSecurity",
      admissionControlConfigFile: "admission.yaml",
    };

    expect(parse(options)).toEqual({
      enabled: ["AlwaysPullImages", "DenyServiceExternalIPs"],
      disabled: ["PodSecurity"],
      configFile: "/etc/admission.yaml",
    });
  });

  test("turns nothing on or off without options", () => {
    expect(parse({})).toEqual({ enabled: [], disabled: [], configFile: undefined });
  });

  test.each([{ enableAdmissionPlugins: "Nothing" }, { disableAdmissionPlugins: "Nothing" }])(
    "refuse names that mean nothing: %o",
    (options) => {
      expect(() => parse(options)).toThrow(UsageError);
      expect(() => parse(options)).toThrow(/unknown admission plugin "Nothing"; known are AlwaysPullImages/);
    },
  );
});

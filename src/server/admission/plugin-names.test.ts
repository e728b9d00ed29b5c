import { describe, expect, test } from "vitest";
import { PLUGIN_NAMES, checkPluginChoice, isEnabled } from "./plugin-names.ts";

describe("the choice of plugins", () => {
  test("has upstream's defaults", () => {
    expect(isEnabled("PodSecurity", {})).toBe(true);
    expect(isEnabled("AlwaysPullImages", {})).toBe(false);
  });

  test("enables and disables plugins by name", () => {
    expect(isEnabled("AlwaysPullImages", { enabled: ["AlwaysPullImages"] })).toBe(true);
    expect(isEnabled("PodSecurity", { disabled: ["PodSecurity"] })).toBe(false);
  });

  test("lists every plugin under one name", () => {
    expect(new Set(PLUGIN_NAMES).size).toBe(PLUGIN_NAMES.length);
    expect(() => checkPluginChoice({ enabled: PLUGIN_NAMES })).not.toThrow();
  });

  test("refuses an unknown name and lists the known ones", () => {
    expect(() => checkPluginChoice({ enabled: ["PodSecurityPolicy"] })).toThrow(
      /unknown admission plugin "PodSecurityPolicy"; known are AlwaysPullImages, .*ValidatingAdmissionWebhook/,
    );
    expect(() => checkPluginChoice({ enabled: ["Priority"], disabled: ["Priority"] })).toThrow(
      'admission plugin "Priority" is both enabled and disabled',
    );
  });
});

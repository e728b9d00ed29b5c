// Made by scripts/generate-facts.mjs. Do not edit.

export type Info = {
  readonly buildDate: string;
  readonly compiler: string;
  readonly emulationMajor?: string;
  readonly emulationMinor?: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly gitVersion: string;
  readonly goVersion: string;
  readonly major: string;
  readonly minCompatibilityMajor?: string;
  readonly minCompatibilityMinor?: string;
  readonly minor: string;
  readonly platform: string;
};

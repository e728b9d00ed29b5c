/** Version information of the server. */
import type { JsonObject } from "../../../api/json/json-object.ts";

/** Version of the served API, marked as not being upstream's build. */
export const GIT_VERSION = "v1.36.4+setpoint";
/** Major and minor version, as in OpenAPI documents. */
export const API_VERSION = "1.36";

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

export function versionInfo(): JsonObject {
  return {
    major: "1",
    minor: "36",
    emulationMajor: "1",
    emulationMinor: "36",
    minCompatibilityMajor: "1",
    minCompatibilityMinor: "35",
    gitVersion: GIT_VERSION,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    // Clients show these two fields. The server is not written in Go.
    goVersion: `node${process.versions.node}`,
    compiler: "v8",
    platform: `${process.platform}/${ARCHITECTURES[process.arch] ?? process.arch}`,
  };
}

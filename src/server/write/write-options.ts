/** The query of every write. */
import { badRequest } from "../../api/api-error.ts";
import type { Call } from "../call.ts";

export interface WriteOptions {
  readonly isDryRun: boolean;
  /** Who owns the fields that are written. */
  readonly manager: string;
  readonly user: string;
}

const MANAGER_MAX = 128;

export function writeOptionsOf({ query, request, user }: Call): WriteOptions {
  const given = query.get("fieldManager") ?? "";
  if (given.length > MANAGER_MAX) {
    throw badRequest(`fieldManager: Invalid value: ${JSON.stringify(given)}: may not be more than 128 bytes`);
  }
  return {
    isDryRun: isDryRun(query.getAll("dryRun")),
    manager: given === "" ? managerOf(request.headers.get("user-agent") ?? "") : given,
    user: user.name,
  };
}

/** `kubectl/v1.36 (linux)` writes as `kubectl`. */
function managerOf(userAgent: string): string {
  const name = userAgent.split("/", 1)[0]?.slice(0, MANAGER_MAX) ?? "";
  return name === "" ? "unknown" : name;
}

export function isDryRun(values: readonly string[]): boolean {
  const asked = values.filter((value) => value !== "");
  const wrong = asked.find((value) => value !== "All");
  if (wrong !== undefined) {
    throw badRequest(`dryRun: Unsupported value: ${JSON.stringify(wrong)}: supported values: "All"`);
  }
  return asked.length > 0;
}

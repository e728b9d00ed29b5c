/** Checks a log or connect request against the pod, before the node is asked. */
import { badRequest, invalid } from "../../api/errors/api-error.ts";
import { FieldErrors } from "../../api/errors/field-error.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { canonicalTime } from "../../api/values/time.ts";
import { int64Of } from "../verbs/read/list-options.ts";

const LEAST = new Map([
  ["tailLines", 0],
  ["limitBytes", 1],
]);

/** As upstream, unparsable values are reported first. */
export function checkLogOptions(podName: string, query: URLSearchParams): void {
  const errors = new FieldErrors();
  const sinceSeconds = int64Of(query, "sinceSeconds");
  requireTime(query.get("sinceTime") ?? "");
  for (const [name, least] of LEAST) checkAmount(name, { amount: int64Of(query, name), least }, errors);
  if (sinceSeconds !== undefined && query.has("sinceTime"))
    errors.forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified");
  else checkAmount("sinceSeconds", { amount: sinceSeconds, least: 1 }, errors);
  if (errors.found.length > 0) throw invalid({ group: "", kind: "PodLogOptions" }, podName, errors.found);
}

function requireTime(text: string): void {
  if (text === "" || text === "null") return;
  try {
    canonicalTime(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(error.message, { cause: error });
    throw error;
  }
}

interface Amount {
  readonly amount: number | undefined;
  readonly least: number;
}

function checkAmount(name: string, { amount, least }: Amount, errors: FieldErrors): void {
  if (amount === undefined || amount >= least) return;
  const why = least === 0 ? "must be greater than or equal to 0" : "must be greater than 0";
  errors.invalid(name, amount, why);
}

/** Every connection except a log needs a node. Every one except port forwarding needs a container. */
export function checkConnection({ metadata, spec }: Pod, subresource: string, query: URLSearchParams): void {
  if (subresource !== "portforward") checkContainer(metadata.name, spec, query.get("container") ?? "");
  if (subresource !== "log" && (spec.nodeName ?? "") === "")
    throw badRequest(`pod ${metadata.name} does not have a host assigned`);
}

function checkContainer(podName: string, spec: Pod["spec"], container: string): void {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
  if (container === "" && containers.length > 1) {
    const choice = `choose one of: [${names.join(" ")}]`;
    throw badRequest(`a container name must be specified for pod ${podName}, ${choice}`);
  }
  if (container !== "" && !names.includes(container))
    throw badRequest(`container ${container} is not valid for pod ${podName}`);
}

/** Client config of a webhook: a URL, or a Service of the cluster. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  ServiceReference,
  WebhookClientConfig,
} from "../../api/generated/types/admissionregistration-v1.ts";
import { dns1123Subdomain, portNumber } from "../../api/values/names.ts";

const URL_FORM = "; desired format: https://host[/path]";

export function checkClientConfig(
  { url, service }: WebhookClientConfig,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if ((url === undefined) === (service === undefined)) {
    errors.required(path, "exactly one of url or service is required");
  } else if (url !== undefined) {
    checkUrl(url, path.child("url"), errors);
  } else if (service !== undefined) {
    checkService(service, path.child("service"), errors);
  }
}

function checkUrl(text: string, path: FieldPath, errors: FieldErrors): void {
  if (!URL.canParse(text)) {
    errors.required(
      path,
      `url must be a valid URL: parse ${JSON.stringify(text)}: invalid URI for request${URL_FORM}`,
    );
    return;
  }
  const url = new URL(text);
  if (url.protocol !== "https:") {
    errors.invalid(path, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${URL_FORM}`);
  }
  if (url.host === "") errors.invalid(path, url.host, `host must be specified${URL_FORM}`);
  if (url.username !== "") errors.invalid(path, url.username, "user information is not permitted in the URL");
  if (url.hash !== "") errors.invalid(path, url.hash.slice(1), "fragments are not permitted in the URL");
  if (url.search !== "")
    errors.invalid(path, url.search.slice(1), "query parameters are not permitted in the URL");
}

function checkService(
  { name, namespace, port = 443, path: target }: ServiceReference,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(path.child("name"));
  if (namespace === "") errors.required(path.child("namespace"));
  const problems = portNumber(port);
  if (problems.length > 0)
    errors.invalid(path.child("port"), port, `port is not valid: ${problems.join(", ")}`);
  if (target === undefined || target === "" || target === "/") return;
  const at = path.child("path");
  if (!target.startsWith("/")) errors.invalid(at, target, "must start with a '/'");
  for (const [i, step] of target.slice(1).replace(/\/$/, "").split("/").entries()) {
    if (step === "") errors.invalid(at, target, `segment[${i}] may not be empty`);
    else
      errors.invalidFor(
        at,
        target,
        dns1123Subdomain(step).map((problem) => `segment[${i}]: ${problem}`),
      );
  }
}

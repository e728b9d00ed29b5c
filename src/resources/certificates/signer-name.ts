/** Validation of signer names: `example.com/signer`. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { quoted } from "../../api/values/message-text.ts";
import { dns1123Label } from "../../api/values/names.ts";

const PART_MAX = 253;

export function checkSignerName(name: string, path: FieldPath, errors: FieldErrors): void {
  const [domain = "", signer, ...more] = name.split("/");
  if (name === "") {
    errors.required(path);
  } else if (signer === undefined || more.length > 0) {
    errors.invalid(
      path,
      name,
      "must be a fully qualified domain and path of the form 'example.com/signer-name'",
    );
  } else {
    if (domain.length > PART_MAX) errors.tooLong(path, PART_MAX);
    checkLabels(domain, path, errors);
    if (domain.split(".").length < 2) {
      errors.invalid(path, domain, "should be a domain with at least two segments separated by dots");
    }
    checkLabels(signer, path, errors);
  }
}

function checkLabels(text: string, path: FieldPath, errors: FieldErrors): void {
  for (const label of text.split(".")) {
    for (const problem of dns1123Label(label)) {
      errors.invalid(path, text, `validating label ${quoted(label)}: ${problem}`);
    }
  }
}

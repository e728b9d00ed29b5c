/** CEL functions that exist only in expressions that make JSON patches. */
import type { Library } from "../overload.ts";

export const JSON_PATCHES: Library = [
  [
    "jsonpatch.escapeKey(string): string",
    ([text], run) => {
      run.chargeText((text as string).length);
      return (text as string).replaceAll("~", "~0").replaceAll("/", "~1");
    },
  ],
];

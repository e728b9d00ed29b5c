/** Base64, and keys of JSON patches. */
import { endOfBody } from "../../../base/text-end.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Library } from "../overload.ts";
import { Bytes } from "../value.ts";

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export const ENCODINGS: Library = [
  [
    "base64.encode(bytes): string",
    ([value], run) => {
      run.chargeText((value as Bytes).data.length);
      return Buffer.from((value as Bytes).data).toString("base64");
    },
  ],
  [
    "base64.decode(string): bytes",
    ([text], run) => {
      run.chargeText((text as string).length);
      const isWhole = endOfBody(text as string, "=") % 4 !== 1;
      if (!isWhole || !BASE64.test(text as string)) throw new CelEvaluationError("illegal base64 data");
      return new Bytes(Buffer.from(text as string, "base64"));
    },
  ],
  [
    "jsonpatch.escapeKey(string): string",
    ([text], run) => {
      run.chargeText((text as string).length);
      return (text as string).replaceAll("~", "~0").replaceAll("/", "~1");
    },
  ],
];

/** All functions of Kubernetes' CEL environment, by name. It has no extensions for mathematics and base64. */
import { ADDRESSES } from "./library/address.ts";
import { ARITHMETIC } from "./library/arithmetic.ts";
import { AUTHORIZER } from "./library/authorizer-library.ts";
import { CLOCK } from "./library/clock.ts";
import { COLLECTIONS } from "./library/collection.ts";
import { CONVERSIONS } from "./library/conversion.ts";
import { JSON_PATCHES } from "./library/json-patch-library.ts";
import { NAMED_FORMATS } from "./library/named-format.ts";
import { OPERATORS } from "./library/operator.ts";
import { OPTIONALS } from "./library/optional.ts";
import { QUANTITIES } from "./library/quantity-library.ts";
import { REGEX } from "./library/regex.ts";
import { VERSIONS } from "./library/semver.ts";
import { TEXT } from "./library/text.ts";
import { URLS } from "./library/url.ts";
import { type Library, type Overload, overloadsOf } from "./overload.ts";

/**
 * The libraries, each with the effort of a call beyond the effort that its functions count. A unit is about 50 ns, and
 * parsing an address or a version takes longer than a comparison.
 */
const LIBRARIES: readonly (readonly [library: Library, effort: number])[] = [
  [OPERATORS, 0],
  [ARITHMETIC, 0],
  [CONVERSIONS, 0],
  [CLOCK, 4],
  [TEXT, 0],
  [REGEX, 60],
  [COLLECTIONS, 0],
  [OPTIONALS, 0],
  [URLS, 20],
  [ADDRESSES, 40],
  [QUANTITIES, 25],
  [VERSIONS, 10],
  [NAMED_FORMATS, 5],
  [JSON_PATCHES, 0],
  [AUTHORIZER, 0],
];

/** Functions available only where an expression may make JSON patches. */
export const PATCH_FUNCTIONS: ReadonlySet<string> = new Set(["jsonpatch.escapeKey"]);

let table: ReadonlyMap<string, readonly Overload[]> | undefined;

/** The table, made when the first expression is compiled. */
export function functionTable(): ReadonlyMap<string, readonly Overload[]> {
  table ??= makeTable();
  return table;
}

function makeTable(): ReadonlyMap<string, readonly Overload[]> {
  const made = new Map<string, Overload[]>();
  for (const overload of LIBRARIES.flatMap(([library, effort]) => overloadsOf(library, effort))) {
    const known = made.get(overload.name);
    if (known === undefined) made.set(overload.name, [overload]);
    else known.push(overload);
  }
  return made;
}

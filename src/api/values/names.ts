/**
 * Validates names. Every rule returns problems in upstream's words, and an empty list for a valid name. Length limits
 * mean bytes of UTF-8, but a name with non-ASCII characters already fails its pattern.
 */

import type { Random } from "../../base/loop/loop.ts";

/** Returns the problems of a name; empty for a valid name. */
export type NameRule = (name: string) => readonly string[];

const LABEL_MAX = 63;
const SUBDOMAIN_MAX = 253;

const DNS1123_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`;
const DNS1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?";
const WILDCARD_SUBDOMAIN = `\\*\\.${DNS1123_SUBDOMAIN}`;
const QUALIFIED_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;
const HTTP_HEADER = "[-A-Za-z0-9]+";
const ENV_VAR = "[-._a-zA-Z][-._a-zA-Z0-9]*";
const CONFIG_KEY = "[-._a-zA-Z0-9]+";
const C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*";
const PERCENT = "[0-9]+%";
const CONDITION_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";

const QUALIFIED_NAME_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** A rule made of a pattern and a maximum length. Its message quotes the pattern and the examples. */
interface Pattern {
  readonly pattern: string;
  readonly text: string;
  readonly examples: readonly string[];
  readonly maxBytes?: number;
  /** Unit in upstream's length message. Both units count the same in ASCII. */
  readonly unit?: LengthUnit;
}

type LengthUnit = "characters" | "bytes";

function patternRule({ pattern, text, examples, maxBytes = Infinity, unit }: Pattern): NameRule {
  const whole = new RegExp(`^(?:${pattern})$`);
  const problem = patternText({ pattern, text, examples });
  return (name) => {
    // The pattern is not run on extremely long names.
    const isTooLong = name.length > maxBytes;
    const isMatch = name.length <= SCANNED_MAX && whole.test(name);
    if (isMatch && !isTooLong) return GOOD;
    return [...(isTooLong ? [maxLengthText(maxBytes, unit)] : []), ...(isMatch ? [] : [problem])];
  };
}

/** Shared result for valid names. Every write checks dozens of names, so it saves an allocation for each. */
const GOOD: readonly string[] = [];

/** Longer names are refused without running a pattern. No rule allows more than a thousandth of this. */
const SCANNED_MAX = 2 ** 18;

const SUBDOMAIN_RULE: Pattern = {
  pattern: DNS1123_SUBDOMAIN,
  text: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ["example.com"],
  maxBytes: SUBDOMAIN_MAX,
};

export const dns1123Subdomain = patternRule(SUBDOMAIN_RULE);
const prefixSubdomain = patternRule({ ...SUBDOMAIN_RULE, unit: "bytes" });

const dns1123LabelPattern = patternRule({
  pattern: DNS1123_LABEL,
  text: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  examples: ["my-name", "123-abc"],
  maxBytes: LABEL_MAX,
});

const SUBDOMAIN_WHOLE = new RegExp(`^${DNS1123_SUBDOMAIN}$`);

export const dns1123Label: NameRule = (name) => {
  // Upstream reports only the dots if the name is a valid subdomain but not a label.
  if (!name.includes(".") || !SUBDOMAIN_WHOLE.test(name)) return dns1123LabelPattern(name);
  return [...(name.length > LABEL_MAX ? [maxLengthText(LABEL_MAX)] : []), "must not contain dots"];
};

export const dns1035Label = patternRule({
  pattern: DNS1035_LABEL,
  text: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  examples: ["my-name", "abc-123"],
  maxBytes: LABEL_MAX,
});

export const wildcardSubdomain = patternRule({
  pattern: WILDCARD_SUBDOMAIN,
  text: "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  examples: ["*.example.com"],
  maxBytes: SUBDOMAIN_MAX,
});

export const labelValue = patternRule({
  pattern: LABEL_VALUE,
  text: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ["MyValue", "my_value", "12345"],
  maxBytes: LABEL_MAX,
  unit: "bytes",
});

export const httpHeaderName = patternRule({
  pattern: HTTP_HEADER,
  text: "a valid HTTP header must consist of alphanumeric characters or '-'",
  examples: ["X-Header-Name"],
});

export const cIdentifier = patternRule({
  pattern: C_IDENTIFIER,
  text: "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  examples: ["my_name", "MY_NAME", "MyName"],
});

/** Checks the format only; callers check the length. */
export const conditionReason = patternRule({
  pattern: CONDITION_REASON,
  text: "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  examples: ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"],
});

export const percentage = patternRule({
  pattern: PERCENT,
  text: "a valid percent string must be a numeric string followed by an ending '%'",
  examples: ["1%", "93%"],
});

const configKeyPattern = patternRule({
  pattern: CONFIG_KEY,
  text: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  examples: ["key.name", "KEY_NAME", "key-name"],
  maxBytes: SUBDOMAIN_MAX,
});

/** Keys of ConfigMaps and Secrets. */
export const configMapKey: NameRule = (name) => [...configKeyPattern(name), ...noDots(name)];

const envVarPattern = patternRule({
  pattern: ENV_VAR,
  text: "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  examples: ["my.env-name", "MY_ENV.NAME", "MyEnvName1"],
});

/** Names of variables that come from outside the pod, for example a prefix in `envFrom`. */
export const strictEnvVarName: NameRule = (name) => [...envVarPattern(name), ...noDots(name)];

/** Names of variables set in a pod: any printable ASCII except `=`. */
export const envVarName: NameRule = (name) => {
  if (name === "") return ["environment variable name must be non-empty"];
  if (/^[\x20-\x3c\x3e-\x7e]*$/.test(name)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
};

const qualifiedNameProblem = patternText({
  pattern: QUALIFIED_NAME,
  text: QUALIFIED_NAME_TEXT,
  examples: ["MyName", "my.name", "123-abc"],
});
const QUALIFIED_WHOLE = new RegExp(`^${QUALIFIED_NAME}$`);

/** `name` or `prefix/name`: label keys, annotation keys, finalizers. */
export const qualifiedName: NameRule = (value) =>
  isQualifiedName(value) ? GOOD : qualifiedNameProblems(value);

function isQualifiedName(value: string): boolean {
  const slash = value.indexOf("/");
  const name = slash < 0 ? value : value.slice(slash + 1);
  if (name.length > LABEL_MAX || !QUALIFIED_WHOLE.test(name)) return false;
  return slash < 0 || dns1123Subdomain(value.slice(0, slash)).length === 0;
}

function qualifiedNameProblems(value: string): readonly string[] {
  const [first = "", second, ...more] = value.split("/", 3);
  if (more.length > 0) {
    return [
      `a valid label key ${qualifiedNameProblem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const prefix = second === undefined ? undefined : first;
  const prefixProblems =
    prefix === undefined ? [] : prefix === "" ? ["must be non-empty"] : prefixSubdomain(prefix);
  return [
    ...prefixProblems.map((problem) => `prefix part ${problem}`),
    ...qualifiedNamePart(second ?? first).map((problem) => `name part ${problem}`),
  ];
}

function qualifiedNamePart(name: string): readonly string[] {
  if (name === "") return ["must be non-empty", qualifiedNameProblem];
  const isMatch = name.length <= SCANNED_MAX && QUALIFIED_WHOLE.test(name);
  return [
    ...(name.length > LABEL_MAX ? [maxLengthText(LABEL_MAX, "bytes")] : []),
    ...(isMatch ? [] : [qualifiedNameProblem]),
  ];
}

/** Names that need to be valid only as a path segment, for example of RBAC objects. */
export const pathSegmentName: NameRule = (name) => {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

/** Names of container and service ports: service names of RFC 6335 in lower case. */
export const portName: NameRule = (name) => [
  ...(name.length > 15 ? [maxLengthText(15)] : []),
  ...(/^[-a-z0-9]+$/.test(name)
    ? []
    : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
  ...(/[a-z]/.test(name) ? [] : ["must contain at least one letter (a-z)"]),
  ...(name.includes("--") ? ["must not contain consecutive hyphens"] : []),
  ...(name.startsWith("-") || name.endsWith("-") ? ["must not begin or end with a hyphen"] : []),
];

export function portNumber(port: number): readonly string[] {
  return port >= 1 && port <= 65_535 ? [] : ["must be between 1 and 65535, inclusive"];
}

/** Shorter than other names, because the names of its jobs add eleven characters. */
export const cronJobName: NameRule = (name) => [
  ...dns1123Subdomain(name),
  ...(name.length > 52 ? ["must be no more than 52 characters"] : []),
];

/** The rule for a `generateName`, which may end in a dash because the generated suffix follows it. */
export function prefixOf(rule: NameRule): NameRule {
  return (prefix) => rule(prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix);
}

/** No vowels and no digits that look like vowels, so that suffixes do not form words. */
const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
/** Base and suffix together have the maximum length of a label. */
const GENERATE_BASE_MAX = 58;

/** A random name that begins with `base`. It may be taken: the caller retries on a collision. */
export function generateName(base: string, random: Random): string {
  let name = base.slice(0, GENERATE_BASE_MAX);
  for (let i = 0; i < SUFFIX_LENGTH; i++)
    name += SUFFIX_ALPHABET.charAt(random.below(SUFFIX_ALPHABET.length));
  return name;
}

function noDots(name: string): readonly string[] {
  if (name === "." || name === "..") return [`must not be '${name}'`];
  return name.startsWith("..") ? ["must not start with '..'"] : [];
}

function maxLengthText(max: number, unit: LengthUnit = "characters"): string {
  return `must be no more than ${max} ${unit}`;
}

function patternText({ pattern, text, examples }: Pattern): string {
  const listed = examples.map((example) => `'${example}', `).join(" or ");
  return `${text} (e.g. ${listed}regex used for validation is '${pattern}')`;
}

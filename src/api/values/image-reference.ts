/** Parses references to container images as Kubernetes does: `web`, `registry:5000/team/web:v1@sha256:…`. */

export interface ImageReference {
  /** Registry; `docker.io` by default. Empty if the first part of the name is not a host. */
  readonly domain: string;
  readonly path: string;
  /** Defaults to `latest` if the reference has neither tag nor digest. */
  readonly tag: string;
  /** Empty if the reference has none. */
  readonly digest: string;
}

class ImageReferenceError extends Error {
  override readonly name = "ImageReferenceError";
}

const DEFAULT_DOMAIN = "docker.io";
const LEGACY_DOMAIN = "index.docker.io";
const PATH_MAX = 255;
const INVALID = "invalid reference format";

/** Throws ImageReferenceError. */
function parseImageReference(text: string): ImageReference {
  if (/^[a-f0-9]{64}$/.test(text))
    throw refused(`invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`);
  const [domain, remainder] = splitDomain(text);
  const [remote = ""] = remainder.split(":", 1);
  if (remote.toLowerCase() !== remote)
    throw refused(`${INVALID}: repository name (${remote}) must be lowercase`);
  return parseWhole(`${domain}/${remainder}`);
}

/** Undefined if the text is not a valid reference. */
export function findImageReference(text: string): ImageReference | undefined {
  const found = readImageReference(text);
  return found instanceof ImageReferenceError ? undefined : found;
}

/** The problem of the reference in upstream's words. Undefined if it is valid. */
export function findImageProblem(text: string): string | undefined {
  const found = readImageReference(text);
  return found instanceof ImageReferenceError ? found.message : undefined;
}

function readImageReference(text: string): ImageReference | ImageReferenceError {
  try {
    return parseImageReference(text);
  } catch (error) {
    if (error instanceof ImageReferenceError) return error;
    throw error;
  }
}

/**
 * The first part is a registry if it has a dot, a colon or a capital letter, or is `localhost`. Otherwise it belongs to
 * the path.
 */
function splitDomain(text: string): readonly [domain: string, remainder: string] {
  const slash = text.indexOf("/");
  const first = text.slice(0, Math.max(slash, 0));
  const isDomain = /[.:]/.test(first) || first === "localhost" || first.toLowerCase() !== first;
  const named = isDomain ? first : DEFAULT_DOMAIN;
  const remainder = isDomain ? text.slice(slash + 1) : text;
  if (named !== DEFAULT_DOMAIN && named !== LEGACY_DOMAIN) return [named, remainder];
  return [DEFAULT_DOMAIN, remainder.includes("/") ? remainder : `library/${remainder}`];
}

function parseWhole(text: string): ImageReference {
  const whole = split(text);
  if (!isFormed(whole)) {
    const isFormedLower = isFormed(split(text.toLowerCase()));
    throw refused(isFormedLower ? "repository name must be lowercase" : INVALID);
  }
  const { name, tag, digest } = whole;
  const slash = name.indexOf("/");
  const domain = isDomain(name.slice(0, slash)) ? name.slice(0, slash) : "";
  const path = domain === "" ? name : name.slice(slash + 1);
  if (path.length > PATH_MAX) throw refused(`repository name must not be more than ${PATH_MAX} characters`);
  if (digest !== undefined) checkDigest(digest);
  return { domain, path, tag: tag ?? (digest === undefined ? "latest" : ""), digest: digest ?? "" };
}

interface Parts {
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** The tag follows the last part of the path; a colon in the first part begins a port. */
function split(text: string): Parts {
  const at = text.indexOf("@");
  const tagged = at < 0 ? text : text.slice(0, at);
  const digest = at < 0 ? undefined : text.slice(at + 1);
  const colon = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
  if (colon < 0) return { name: tagged, tag: undefined, digest };
  return { name: tagged.slice(0, colon), tag: tagged.slice(colon + 1), digest };
}

const PATH_PART = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;

function isFormed({ name, tag, digest }: Parts): boolean {
  const [first = "", ...others] = name.split("/");
  const isNamed = others.length > 0 && (isDomain(first) || PATH_PART.test(first));
  return (
    isNamed &&
    others.every((part) => PATH_PART.test(part)) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest))
  );
}

function isDomain(text: string): boolean {
  const { host = "" } = /^(?<host>\[[a-fA-F0-9:]+\]|[^:]+)(?::[0-9]+)?$/.exec(text)?.groups ?? {};
  return host.startsWith("[") || host.split(".").every(isHostLabel);
}

function isHostLabel(label: string): boolean {
  return /^[a-zA-Z0-9-]+$/.test(label) && !label.startsWith("-") && !label.endsWith("-");
}

/** Number of hexadecimal digits for each algorithm. */
const DIGEST_LENGTHS: ReadonlyMap<string, number> = new Map([
  ["sha256", 64],
  ["sha384", 96],
  ["sha512", 128],
]);

function checkDigest(digest: string): void {
  const colon = digest.indexOf(":");
  const algorithm = digest.slice(0, colon);
  const encoded = digest.slice(colon + 1);
  const length = DIGEST_LENGTHS.get(algorithm);
  if (length === undefined) {
    const isPlain = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*$/.test(algorithm);
    throw refused(isPlain ? "unsupported digest algorithm" : "invalid checksum digest format");
  }
  if (encoded.length !== length) throw refused("invalid checksum digest length");
  if (!/^[a-f0-9]+$/.test(encoded)) throw refused("invalid checksum digest format");
}

function refused(message: string): ImageReferenceError {
  return new ImageReferenceError(message);
}

/** The image registry of simulated nodes: it has every image, except names that mark a missing image. */
import { createHash } from "node:crypto";
import { findImageReference, type ImageReference } from "../../api/values/image-reference.ts";
import type { FoundImage } from "../runtime-handler.ts";

/** Tags that tests and tutorials use for a missing image. */
const MISSING_TAGS: ReadonlySet<string> = new Set(["nonexistent", "non-existent", "404"]);

const KNOWN_MAX = 4096;

/** A container engine's error for a missing image; undefined for an image that exists. */
export function findPullError(image: string): string | undefined {
  const name = findImageReference(image);
  if (name === undefined) return undefined;
  if (isUnknownHost(name)) return unknownHostMessage(name);
  if (!MISSING_TAGS.has(name.tag)) return undefined;
  const text = fullName(name);
  return `rpc error: code = NotFound desc = ${resolving(text)}: ${text}: not found`;
}

function isUnknownHost({ domain }: ImageReference): boolean {
  const host = domain.replace(/:\d+$/, "");
  return host === "invalid" || host.endsWith(".invalid");
}

function unknownHostMessage(name: ImageReference): string {
  const { domain, path, tag } = name;
  const url = `https://${domain}/v2/${path}/manifests/${tag === "" ? "latest" : tag}`;
  return `${resolving(fullName(name))}: failed to do request: Head "${url}": dial tcp: lookup ${domain}: no such host`;
}

function fullName({ domain, path, tag }: ImageReference): string {
  return `${domain}/${path}:${tag === "" ? "latest" : tag}`;
}

function resolving(name: string): string {
  return `failed to pull and unpack image "${name}": failed to resolve reference "${name}"`;
}

interface Identity {
  readonly image: FoundImage;
  readonly sizeBytes: number;
}

const known = new Map<string, Identity>();

/** Deterministic: equal names have equal identities. */
export function imageIdentity(text: string): Identity {
  const found = known.get(text);
  if (found !== undefined) return found;
  const hash = createHash("sha256").update(text).digest();
  const { domain, path } = findImageReference(text) ?? { domain: "docker.io", path: text };
  const identity = {
    image: { id: `${domain}/${path}@sha256:${hash.toString("hex")}` },
    // Between 8 and 72 MB, so that not all images look alike.
    sizeBytes: 8_000_000 + (hash.readUInt32BE(0) % 64_000_000),
  };
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(text, identity);
  return identity;
}

/**
 * Parses Kubernetes' EncryptionConfiguration: for each list of resources, the first provider writes and all read.
 * Supports `aesgcm`, `aescbc` and `identity`. A file with another provider is refused: ignoring it would store
 * unencrypted values.
 */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { parseYaml } from "../../../api/yaml/yaml.ts";
import type { Random } from "../../../base/loop/loop.ts";
import { AES_KEY_BYTES, aesCbc, aesGcm, identity } from "./ciphers.ts";
import type { NamedKey } from "./ciphers.ts";
import { covers, Encryption } from "./encryption.ts";
import type { EncryptionRule, ResourceName } from "./encryption.ts";
import { firstWrites } from "./transformer.ts";
import type { PrefixedTransformer } from "./transformer.ts";

const API_VERSIONS = new Set(["apiserver.config.k8s.io/v1", "v1"]);
const KINDS = new Set(["EncryptionConfiguration", "EncryptionConfig"]);

/** Errors name the place in the file, never a key. */
export function parseEncryptionConfig(bytes: Uint8Array, random: Random): Encryption {
  const { value } = parseYaml(bytes);
  if (
    !isJsonObject(value) ||
    !KINDS.has(String(value["kind"])) ||
    !API_VERSIONS.has(String(value["apiVersion"]))
  )
    throw new Error("expected an EncryptionConfiguration of apiserver.config.k8s.io/v1");
  const entries = listOf(value["resources"], "resources");
  const rules = entries.map((entry, at) => ruleOf(entry, `resources[${String(at)}]`, random));
  checkMasked(rules);
  return new Encryption(rules);
}

function ruleOf(entry: unknown, path: string, random: Random): EncryptionRule {
  const { resources, providers } = objectOf(entry, path);
  const names = listOf(resources, `${path}.resources`).map((name, at) =>
    resourceOf(name, `${path}.resources[${String(at)}]`),
  );
  const all = listOf(providers, `${path}.providers`).flatMap((provider, at) =>
    transformersOf(provider, `${path}.providers[${String(at)}]`, random),
  );
  const [first, ...others] = all;
  if (first === undefined) throw new Error(`${path}.providers: expected at least one provider`);
  return { resources: names, transformer: firstWrites([first, ...others]) };
}

/** `secrets`, `widgets.example.com`, `*.apps`, `*.` for the core group, `*.*` for all resources. */
function resourceOf(name: unknown, path: string): ResourceName {
  if (typeof name !== "string" || name === "") throw new Error(`${path}: expected the name of a resource`);
  const dot = name.indexOf(".");
  if (name === "*")
    throw new Error(`${path}: use "*." for the core group or "*.*" for all resources instead of "*"`);
  if (name.includes("/"))
    throw new Error(`${path}: a subresource is stored with its resource, found "${name}"`);
  const [resource, group] = dot < 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)];
  if (resource === "" || name !== name.toLowerCase() || (group === "*" && resource !== "*"))
    throw new Error(`${path}: expected RESOURCE.GROUP, "*.GROUP" or "*.*", found "${name}"`);
  return { resource, group };
}

/** A name that an earlier rule covers never applies, so it is a mistake in the file. */
function checkMasked(rules: readonly EncryptionRule[]): void {
  const seen: ResourceName[] = [];
  for (const { resources } of rules) {
    for (const name of resources) {
      if (seen.some((earlier) => covers(earlier, name)))
        throw new Error(`resources: "${name.resource}.${name.group}" is covered by an earlier entry`);
      seen.push(name);
    }
  }
}

function transformersOf(provider: unknown, path: string, random: Random): readonly PrefixedTransformer[] {
  const entries = Object.entries(objectOf(provider, path)).filter(([, settings]) => settings !== undefined);
  const [name, settings] = entries[0] ?? [];
  if (name === undefined || entries.length > 1) throw new Error(`${path}: expected exactly one provider`);
  switch (name) {
    case "identity":
      return [identity];
    case "aesgcm":
      return keysOf(settings, `${path}.aesgcm`).map((key) => aesGcm(key, random));
    case "aescbc":
      return keysOf(settings, `${path}.aescbc`).map((key) => aesCbc(key, random));
    default:
      throw new Error(`${path}: the provider "${name}" is not supported: use aesgcm, aescbc or identity`);
  }
}

function keysOf(settings: unknown, path: string): readonly NamedKey[] {
  return listOf(objectOf(settings, path)["keys"], `${path}.keys`).map((entry, at) =>
    keyOf(objectOf(entry, `${path}.keys[${String(at)}]`), `${path}.keys[${String(at)}]`),
  );
}

function keyOf({ name, secret }: JsonObject, path: string): NamedKey {
  if (typeof name !== "string" || name === "" || name.includes(":"))
    throw new Error(`${path}.name: expected a name without colons`);
  return { name, secret: secretOf(secret, `${path}.secret`) };
}

export function secretOf(text: unknown, path: string): Buffer {
  const secret = typeof text === "string" ? Buffer.from(text.trim(), "base64") : Buffer.alloc(0);
  const isWhole = typeof text === "string" && secret.toString("base64") === text.trim();
  if (isWhole && AES_KEY_BYTES.includes(secret.length)) return secret;
  throw new Error(`${path}: expected ${AES_KEY_BYTES.join(", ")} bytes in base64`);
}

function objectOf(value: unknown, path: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new Error(`${path}: expected an object`);
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value as readonly unknown[];
  throw new Error(`${path}: expected at least one`);
}

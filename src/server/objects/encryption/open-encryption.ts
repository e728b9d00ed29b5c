import { createHash } from "node:crypto";
import { errorText } from "../../../base/error-text.ts";
import type { Loop, Random } from "../../../base/loop/loop.ts";
import { readKeys } from "../../../base/process/private-path.ts";
import { aesGcm, identity } from "./ciphers.ts";
import { Encryption } from "./encryption.ts";
import { parseEncryptionConfig, secretOf } from "./provider-config.ts";
import { firstWrites } from "./transformer.ts";

/** At most one of the two. */
export interface EncryptionFiles {
  /** An EncryptionConfiguration, as kube-apiserver takes it. */
  readonly configFile: string | undefined;
  /** Keys in base64, one a line, for Secrets: the first one writes, all read. */
  readonly keyFile: string | undefined;
  /** Whether the EncryptionConfiguration is read again when it changes. */
  readonly isReloaded?: boolean;
}

export interface OpenedEncryption {
  readonly encryption: Encryption;
  /** What was read. */
  readonly text: string;
  /** Takes what the file says now. Throws when that is not how objects are encrypted. */
  readonly use: (text: string) => void;
}

const NO_FILES: EncryptionFiles = { configFile: undefined, keyFile: undefined };

/**
 * Undefined when nothing is asked for. Rejects when a file cannot be read as it is meant, so that nothing is stored in clear by mistake, and when other users
 * can read it.
 */
export async function openEncryption(
  { configFile, keyFile }: EncryptionFiles = NO_FILES,
  loop: Loop,
): Promise<OpenedEncryption | undefined> {
  const path = configFile ?? keyFile;
  if (path === undefined) return undefined;
  const random = loop.random("encryption");
  const bytes = await loop.outside("file", readKeys(path));
  const parse = configFile === undefined ? parseKeyFile : parseEncryptionConfig;
  const parsed = (content: Uint8Array): Encryption => {
    try {
      return parse(content, random);
    } catch (error) {
      const why = errorText(error);
      throw new Error(`${path} does not say how objects are encrypted: ${why}`, { cause: error });
    }
  };
  const encryption = parsed(bytes);
  return {
    encryption,
    text: bytes.toString(),
    use: (text) => encryption.becomes(parsed(Buffer.from(text))),
  };
}

/** Secrets only. What was stored in clear before is read too, and sealed when it is next written. */
export function parseKeyFile(bytes: Uint8Array, random: Random): Encryption {
  const lines = Buffer.from(bytes).toString().split("\n");
  const keys = lines.flatMap((line, at) =>
    line.trim() === "" || line.startsWith("#") ? [] : [secretOf(line, `line ${String(at + 1)}`)],
  );
  const [first, ...others] = keys.map((secret) => aesGcm({ name: nameOf(secret), secret }, random));
  if (first === undefined) throw new Error("expected a key of 32 bytes in base64");
  const transformer = firstWrites([first, ...others, identity]);
  return new Encryption([{ resources: [{ group: "", resource: "secrets" }], transformer }]);
}

/** The same for the same key, wherever it stands in the file; it is stored beside what is sealed and gives nothing away. */
function nameOf(secret: Buffer): string {
  return createHash("sha256").update("setpoint key name\0").update(secret).digest("hex").slice(0, 16);
}

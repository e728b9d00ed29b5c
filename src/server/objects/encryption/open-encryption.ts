import { createHash } from "node:crypto";
import { errorText } from "../../../base/error-text.ts";
import type { Loop, Random } from "../../../base/loop/loop.ts";
import { readKeys } from "../../../base/process/private-path.ts";
import { aesGcm, identity } from "./ciphers.ts";
import { Encryption } from "./encryption.ts";
import { parseEncryptionConfig, secretOf } from "./provider-config.ts";
import { firstWrites } from "./transformer.ts";

/** The encryption files of the command line; at most one is set. */
export interface EncryptionFiles {
  /** Path of an EncryptionConfiguration as for kube-apiserver. */
  readonly configFile: string | undefined;
  /** Path of a file with base64 keys for Secrets, one a line: the first writes, all read. */
  readonly keyFile: string | undefined;
  /** Whether the server reloads the EncryptionConfiguration when it changes. */
  readonly isReloaded?: boolean;
}

export interface OpenedEncryption {
  readonly encryption: Encryption;
  /** Content of the file. */
  readonly text: string;
  /** Replaces the rules by this content of the file. Throws if it is invalid. */
  readonly use: (text: string) => void;
}

const NO_FILES: EncryptionFiles = { configFile: undefined, keyFile: undefined };

/**
 * Undefined without files. Rejects a malformed file, so that no value is stored unencrypted by mistake. Rejects a
 * file that other users can read.
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
      throw new Error(`${path} is no valid encryption configuration: ${why}`, { cause: error });
    }
  };
  const encryption = parsed(bytes);
  return {
    encryption,
    text: bytes.toString(),
    use: (text) => encryption.becomes(parsed(Buffer.from(text))),
  };
}

/** Covers Secrets only. Values stored unencrypted before are still read, and encrypted on their next write. */
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

/**
 * A key has the same name on any line of the file. The name is stored in clear; as a hash it reveals nothing of the
 * key.
 */
function nameOf(secret: Buffer): string {
  return createHash("sha256").update("setpoint key name\0").update(secret).digest("hex").slice(0, 16);
}

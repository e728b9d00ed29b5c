/** Tokens of service accounts for the volumes of pods, requested again before they expire. */
import type { Pod, ServiceAccountTokenProjection } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import type { VolumeSources } from "./volume-sources.ts";

const DEFAULT_SECONDS = 3600;
/** The kubelet replaces a token after this share of its life, and at the latest after a day. */
const USED_SHARE = 0.8;
const OLDEST_MS = 86_400_000;

interface KnownToken {
  readonly token: string;
  readonly replaceAt: number;
  readonly expiresAt: number;
}

export class PodTokens {
  readonly #now: () => number;
  /** By pod uid, then by audience and duration. */
  readonly #known = new Map<string, Map<string, KnownToken>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A valid token. The present one serves on when a request for a new one fails. */
  async find(
    pod: Pod,
    projection: ServiceAccountTokenProjection,
    sources: Pick<VolumeSources, "requestToken">,
  ): Promise<string> {
    const { uid } = pod.metadata;
    const { audience, expirationSeconds = DEFAULT_SECONDS } = projection;
    const key = `${String(expirationSeconds)} ${audience ?? ""}`;
    const known = this.#known.get(uid)?.get(key);
    const now = this.#now();
    if (known !== undefined && now < known.replaceAt) return known.token;
    try {
      const made = await this.#request(pod, projection, sources);
      const ofPod = this.#known.get(uid) ?? new Map<string, KnownToken>();
      this.#known.set(uid, ofPod.set(key, made));
      return made.token;
    } catch (error) {
      if (known !== undefined && now < known.expiresAt) return known.token;
      throw error;
    }
  }

  async #request(
    { metadata, spec }: Pod,
    { audience = "", expirationSeconds = DEFAULT_SECONDS }: ServiceAccountTokenProjection,
    sources: Pick<VolumeSources, "requestToken">,
  ): Promise<KnownToken> {
    const { name, namespace = "", uid } = metadata;
    const account = { namespace, name: spec.serviceAccountName ?? "default" };
    const now = this.#now();
    const { token, expirationTimestamp } = await sources.requestToken(account, {
      audiences: audience === "" ? [] : [audience],
      expirationSeconds: plainNumber(expirationSeconds),
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
    });
    const expiresAt = Date.parse(expirationTimestamp);
    return { token, expiresAt, replaceAt: now + Math.min((expiresAt - now) * USED_SHARE, OLDEST_MS) };
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }
}

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
}

export class PodTokens {
  readonly #now: () => number;
  /** By pod uid, then by audience and duration. */
  readonly #known = new Map<string, Map<string, KnownToken>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A valid token. The present one serves on when a request for a new one fails. */
  async find(pod: Pod, projection: ServiceAccountTokenProjection, sources: VolumeSources): Promise<string> {
    const { uid } = pod.metadata;
    const { audience, expirationSeconds = DEFAULT_SECONDS } = projection;
    const key = `${String(expirationSeconds)} ${audience ?? ""}`;
    const known = this.#known.get(uid)?.get(key);
    const now = this.#now();
    if (known !== undefined && now < known.replaceAt) return known.token;
    const { name, namespace = "" } = pod.metadata;
    const account = { namespace, name: pod.spec.serviceAccountName ?? "default" };
    const { token, expirationTimestamp } = await sources.requestToken(account, {
      audiences: audience === undefined || audience === "" ? [] : [audience],
      expirationSeconds: plainNumber(expirationSeconds),
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
    });
    const lifeMs = Date.parse(expirationTimestamp) - now;
    const made = { token, replaceAt: now + Math.min(lifeMs * USED_SHARE, OLDEST_MS) };
    const ofPod = this.#known.get(uid) ?? new Map<string, KnownToken>();
    this.#known.set(uid, ofPod.set(key, made));
    return token;
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }
}

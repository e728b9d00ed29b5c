/** A webhook server as operators run it, on loopback with its own certificate. The test chooses its responses. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { makeAuthority } from "../../src/server/egress/fixture.ts";
import type { TestAuthority } from "../../src/server/egress/fixture.ts";

/** Loosely typed, because tests read whatever they expect. */
export interface Found {
  readonly [field: string]: Found;
}

export interface ReviewRequest {
  readonly uid: string;
  readonly kind: Found;
  readonly resource: Found;
  readonly requestKind: Found;
  readonly requestResource: Found;
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: string;
  readonly userInfo: Found;
  readonly object: Found | null;
  readonly oldObject: Found | null;
  readonly dryRun: boolean;
  readonly options: Found | null;
}

export interface Answer {
  readonly allowed?: boolean;
  readonly status?: object;
  /** Operations of a JSON patch. */
  readonly patch?: readonly object[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: object;
  /** Fields of the review around the response. */
  readonly review?: object;
  /** Raw HTTP response that replaces all others. */
  readonly http?: {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  };
}

export type Behaviour = (request: ReviewRequest) => Answer | Promise<Answer>;

const allow: Behaviour = () => ({});

export interface Asked {
  readonly path: string;
  readonly query: string;
  readonly apiVersion: string;
  readonly request: ReviewRequest;
}

/** Fields of a webhook configuration that a test changes. */
export type HookChange = Readonly<Record<string, unknown>>;

export class WebhookServer {
  readonly asked: Asked[] = [];
  readonly authority: TestAuthority;
  readonly #behaviours = new Map<string, Behaviour>();

  private constructor(authority: TestAuthority) {
    this.authority = authority;
  }

  static async make(): Promise<WebhookServer> {
    return new WebhookServer(await makeAuthority("webhooks"));
  }

  on(path: string, behaviour: Behaviour): void {
    this.#behaviours.set(path, behaviour);
  }

  /** Reviews on a path. */
  requests(path: string): readonly ReviewRequest[] {
    return this.asked.filter((each) => each.path === path).map(({ request }) => request);
  }

  readonly listener = (message: IncomingMessage, response: ServerResponse): void => {
    void this.#answer(message, response);
  };

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = "", query = ""] = (message.url ?? "").split("?");
    const pieces: Buffer[] = [];
    for await (const piece of message) pieces.push(piece as Buffer);
    const { apiVersion, request } = JSON.parse(Buffer.concat(pieces).toString()) as {
      apiVersion: string;
      request: ReviewRequest;
    };
    this.asked.push({ path, query, apiVersion, request });
    const answer = await (this.#behaviours.get(path) ?? allow)(request);
    const { status = 200, headers = {}, body = reviewText(apiVersion, request, answer) } = answer.http ?? {};
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  }
}

function reviewText(apiVersion: string, { uid }: ReviewRequest, answer: Answer): string {
  const { allowed = true, status, patch, warnings, auditAnnotations, review } = answer;
  const patched = patch !== undefined && {
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
  };
  const response = { uid, allowed, status, warnings, auditAnnotations, ...patched };
  return JSON.stringify({ apiVersion, kind: "AdmissionReview", response, ...review });
}

export const ANYTHING = {
  operations: ["*"],
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: ["*/*"],
};

/** A rule about one core resource. */
export function ruleFor(resource: string, ...operations: readonly string[]): object {
  return { operations, apiGroups: [""], apiVersions: ["v1"], resources: [resource] };
}

export function configuration(
  type: "Mutating" | "Validating",
  name: string,
  webhooks: readonly HookChange[],
): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${type}WebhookConfiguration`,
    metadata: { name, labels: { suite: "webhooks" } },
    webhooks: webhooks.map((hook, at) => ({
      name: `hook${String(at)}.${name}.example.com`,
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...hook,
    })),
  };
}

import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../../base/metrics/prom-metrics.ts";
import { conversions, kinds } from "../../../resources/index.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { openMemoryStore } from "../../../store/memory-store.ts";
import { type CustomForms, Registry, requireStored, type StoredResource } from "../../objects/registry.ts";
import { prefixOf, Versions } from "../../objects/versions.ts";
import type { WatchEventAnswer } from "../../request/answer.ts";
import { parseRequest } from "../../request/parse-request.ts";
import { RequestCounts } from "../../request/request-counts.ts";
import { RequestNotes } from "../../request/request-notes.ts";
import { SERVER_USER } from "../../request/server-user.ts";
import { listOptionsOf } from "../read/list-options.ts";
import { OpenSelectors } from "./open-selectors.ts";
import { StoreWatchEvents } from "./watch-events.ts";

const MAPS = requireStored(new Registry(kinds), "", "configmaps");
const MINUTE_MS = 60_000;

/** A conversion webhook that answers each request when the test says so. */
class Webhook {
  readonly requests: { readonly succeed: () => void; readonly fail: (error: Error) => void }[] = [];
  #isConverted = false;

  get resource(): StoredResource {
    const readyToShow = (): Promise<void> | undefined =>
      this.#isConverted
        ? undefined
        : new Promise((resolve, fail) => {
            const succeed = (): void => {
              this.#isConverted = true;
              resolve();
            };
            this.requests.push({ succeed, fail });
          });
    const same = (object: ApiObject): ApiObject => object;
    const webhook = { readyToShow, readyToStore: () => undefined, unconverted: () => MAPS };
    const custom: CustomForms = {
      edition: "",
      findSchema: () => undefined,
      served: same,
      isServedAsStored: () => true,
      stored: same,
      webhook,
    };
    return { ...MAPS, custom };
  }
}

class Fixture {
  readonly loop = new VirtualLoop({ seed: 1 });
  readonly store = openMemoryStore({ loop: this.loop.child("store") });
  readonly tally = new RequestCounts(createMetrics());
  readonly ended = new AbortController();
  readonly left = new AbortController();

  watch(resource: StoredResource = MAPS, query = ""): StoreWatchEvents {
    const parsed = parseRequest("GET", `/api/v1/configmaps?watch=1&${query}`);
    if (parsed.info.type !== "resource") throw new Error("not a resource");
    const call = {
      request: {
        headers: new Map(),
        peer: undefined,
        signal: this.left.signal,
        readBody: () => Promise.reject(),
      },
      info: parsed.info,
      query: parsed.query,
      resource: { ...resource, ended: this.ended.signal },
      user: SERVER_USER,
      notes: new RequestNotes(),
    };
    const { loop, store, tally } = this;
    const parts = { loop, store, tally, versions: new Versions(conversions), selectors: new OpenSelectors() };
    const { revision } = store.view;
    const rules = { after: revision, allowsBookmarks: true, marksInitialEnd: false };
    const { labels, fields } = listOptionsOf(parsed.query, resource.facts, "watch");
    return new StoreWatchEvents(
      { call, parts, rules, timeoutSeconds: 600, failure: undefined },
      { existing: undefined, prefix: prefixOf(resource, ""), selectors: { labels, fields } },
    );
  }

  async write(name: string): Promise<void> {
    const value = Buffer.from(JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: { name } }));
    const key = `${prefixOf(MAPS, "default")}${name}`;
    await this.loop.finish(this.store.write({ changes: [{ type: "put", key, value }] }));
  }
}

const brief = ({ type, stored, resourceVersion }: WatchEventAnswer): string =>
  `${type} ${stored?.object.metadata.name ?? resourceVersion ?? ""}`;

function take(events: StoreWatchEvents): readonly string[] | "end" | undefined {
  const taken = events.take();
  return taken === "end" ? taken : taken?.map(brief);
}

describe("a watch of a kind with a conversion webhook", () => {
  test("sends changes once they are converted", async () => {
    const [fixture, webhook] = [new Fixture(), new Webhook()];
    const events = fixture.watch(webhook.resource);
    take(events);

    await fixture.write("a");
    expect(take(events)).toBeUndefined();
    webhook.requests[0]?.succeed();
    await fixture.loop.settle();

    expect(take(events)).toEqual(["ADDED a"]);
    events.close();
  });

  test("sends no bookmark for changes that wait for the webhook", async () => {
    const [fixture, webhook] = [new Fixture(), new Webhook()];
    const events = fixture.watch(webhook.resource);
    take(events);
    await fixture.write("a");
    take(events);

    await fixture.loop.advance(MINUTE_MS);
    webhook.requests[0]?.succeed();
    await fixture.loop.settle();

    expect([take(events), take(events)]).toEqual([["BOOKMARK 1"], ["ADDED a"]]);
    events.close();
  });

  test("still sends changes that were converted after the kind ended", async () => {
    const [fixture, webhook] = [new Fixture(), new Webhook()];
    const events = fixture.watch(webhook.resource);
    take(events);
    await fixture.write("a");
    take(events);

    fixture.ended.abort();
    webhook.requests[0]?.succeed();
    await fixture.loop.settle();

    expect([take(events), take(events)]).toEqual([["ADDED a"], "end"]);
  });

  test("ends with an error when the webhook fails", async () => {
    const [fixture, webhook] = [new Fixture(), new Webhook()];
    const events = fixture.watch(webhook.resource);
    take(events);
    await fixture.write("a");
    take(events);

    webhook.requests[0]?.fail(new Error("no answer"));
    await fixture.loop.settle();

    expect([take(events), take(events)]).toEqual([["ERROR "], "end"]);
  });
});

describe("a watch", () => {
  test("tells its reader when the client left, and holds nothing any more", async () => {
    const fixture = new Fixture();
    const events = fixture.watch();
    take(events);
    let heard = 0;
    events.whenReady(() => {
      heard += 1;
    });

    fixture.left.abort();

    expect(heard).toBe(1);
    expect(take(events)).toBe("end");
    expect([...fixture.tally.longRunning].map(({ count }) => count)).toEqual([0]);
  });

  test("ends at once when its kind is no longer served", async () => {
    const fixture = new Fixture();
    fixture.ended.abort();

    expect(take(fixture.watch())).toBe("end");
  });

  test("sends the last changes of its kind before it ends", async () => {
    const fixture = new Fixture();
    const events = fixture.watch();
    take(events);

    await fixture.write("a");
    fixture.ended.abort();

    expect([take(events), take(events)]).toEqual([["ADDED a"], "end"]);
  });
});

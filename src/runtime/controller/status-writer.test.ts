import { expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import type { ResourceClient } from "../../client/client.ts";
import { StatusWriter } from "./status-writer.ts";

type Status = Readonly<Record<string, unknown>>;

/** Accepts status updates of one object; the stored status lacks the fields that `drops` names. */
function acceptor(...drops: readonly string[]): {
  readonly sent: Status[];
  readonly client: ResourceClient<ApiObject>;
} {
  const sent: Status[] = [];
  const updateStatus = (object: ApiObject, status: Status): Promise<ApiObject> => {
    sent.push(status);
    const kept = Object.entries(status).filter(([name]) => !drops.includes(name));
    const stored: ApiObject & { readonly status: Status } = { ...object, status: Object.fromEntries(kept) };
    return Promise.resolve(stored);
  };
  return {
    sent,
    client: { updateStatus } as Partial<ResourceClient<ApiObject>> as ResourceClient<ApiObject>,
  };
}

function widget(apiVersion: string): ApiObject {
  return { apiVersion, kind: "Widget", metadata: { name: "a", generation: 2 } };
}

test("fields that one kind drops are still written to a kind of the same name in another group", async () => {
  const writer = new StatusWriter();
  const wanted = { phase: "Ready", failures: 0 };
  await writer.write(acceptor("observedGeneration", "failures").client, widget("one.example.com/v1"), wanted);
  const other = acceptor();

  await writer.write(other.client, widget("two.example.com/v1"), wanted);

  expect(other.sent).toEqual([{ phase: "Ready", failures: 0, observedGeneration: 2 }]);
});

test("fields that a kind drops are no difference", async () => {
  const writer = new StatusWriter();
  const { client, sent } = acceptor("observedGeneration", "failures");
  const wanted = { phase: "Ready", failures: 0 };
  const written = await writer.write(client, widget("one.example.com/v1"), wanted);

  await writer.write(client, written, wanted);

  expect(sent).toHaveLength(1);
});

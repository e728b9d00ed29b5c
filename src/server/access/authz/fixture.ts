/** A store with objects in the server's layout, and access questions, for tests. */
import { createRealLoop } from "../../../base/loop/real/real-loop.ts";
import { openMemoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import type { User } from "../../request/user.ts";
import { NOTHING_ASKED } from "./authorizer.ts";
import type { AccessAttributes } from "./authorizer.ts";

export interface AccessFixture {
  readonly store: Store;
  /** `path` has the form `roles/default/reader`. */
  put(path: string, object: object): Promise<void>;
  remove(path: string): Promise<void>;
}

export function openAccessFixture(): AccessFixture {
  const store = openMemoryStore({ loop: createRealLoop({ name: "test" }).child("store") });
  return {
    store,
    async put(path, object) {
      const parts = path.split("/");
      const [namespace] = parts.length > 2 ? parts.slice(1) : [undefined];
      const metadata = { name: parts.at(-1), ...(namespace !== undefined && { namespace }), uid: "u" };
      const value = Buffer.from(JSON.stringify({ metadata, ...object }));
      await store.write({ changes: [{ type: "put", key: `/registry/${path}`, value }] });
    },
    async remove(path) {
      await store.write({ changes: [{ type: "delete", key: `/registry/${path}` }] });
    },
  };
}

export function user(name: string, ...groups: readonly string[]): User {
  return { name, uid: "", groups, extra: {} };
}

/** A question about a resource; with `path`, about that path. */
export function asked(
  who: User,
  verb: string,
  about: Partial<Omit<AccessAttributes, "user" | "verb">> = {},
): AccessAttributes {
  return {
    ...NOTHING_ASKED,
    version: "v1",
    resource: about.path === undefined ? "pods" : "",
    ...about,
    user: who,
    verb,
  };
}

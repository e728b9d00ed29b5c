/** Admission of connections: exec, attach, port forwarding and proxies. */
import type { Store } from "../../../store/store.ts";
import { callPass } from "../../admission/admission.ts";
import type { Admission } from "../../admission/admission.ts";
import { connectObject } from "../../admission/connect-object.ts";
import type { StoredResource } from "../../objects/registry.ts";
import type { Call } from "../../request/call.ts";

export interface ConnectParts {
  readonly store: Store;
  readonly admission: Pick<Admission, "pass">;
}

/** As upstream, the plugins run before the server checks that the target exists. */
export async function admitConnection(call: Call<StoredResource>, verbParts: ConnectParts): Promise<void> {
  const object = connectObject(call);
  if (object === undefined) return;
  await callPass({ call, verbParts }, "CONNECT")?.admit(object);
}

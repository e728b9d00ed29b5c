/** Binds a pod to a node: `pods/NAME/binding`, and the same object posted to `bindings`. */
import { badRequest, conflict, invalid } from "../../../api/errors/api-error.ts";
import { FieldErrors } from "../../../api/errors/field-error.ts";
import type { Binding, Pod } from "../../../api/generated/types/core-v1.ts";
import { cloneJson } from "../../../api/json/json-clone.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { shareParts } from "../../../api/json/json-share.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import {
  bindingConflict,
  bindPod as setNode,
  checkBinding,
} from "../../../resources/pod/pod-subresources.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import { callPass } from "../../admission/admission.ts";
import type { Registry, Resource } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import type { Answer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { readObject } from "../../write/incoming.ts";
import { normal } from "../../write/incoming.ts";
import { ObjectWriter } from "../../write/object-writer.ts";
import type { WriteCall } from "../../write/write-call.ts";
import { writeOptionsOf } from "../../write/write-options.ts";
import type { Verb } from "../verb.ts";
import { checkPreconditions } from "../write-steps.ts";
import type { WriteParts } from "../writing.ts";
import { created } from "./success.ts";

interface BindParts extends WriteParts {
  readonly registry: Registry;
}

export const bindPod: Verb = async (call, verbParts: BindParts) => {
  const binding = await readBinding(call);
  const { name } = call.info;
  if (binding.metadata.name !== name) throw badRequest("name in URL does not match name in Binding object");
  return bind(binding, call, verbParts);
};

/** Binds the pod that has the binding's name. */
export const createBinding: Verb<Resource> = async (call, verbParts: BindParts) => {
  const binding = await readBinding(call);
  return bind(binding, { ...call, info: { ...call.info, name: binding.metadata.name } }, verbParts);
};

async function readBinding(call: Call): Promise<Binding> {
  const schema = findKindSchema("v1", "Binding");
  if (schema === undefined) throw new Error("the published API has no Binding");
  const { object } = await readObject(call, { apiVersion: "v1", kind: "Binding", schema });
  const { info } = call;
  const { namespace = info.namespace } = object.metadata;
  if (namespace !== info.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return object as Binding;
}

/** Copies the parts of the pod that a binding changes: members of metadata and spec, and the whole status. */
function draftOf(pod: Pod): Draft<Pod> {
  const { metadata, spec, status } = pod;
  return { ...pod, metadata: { ...metadata }, spec: { ...spec }, status: cloneJson(status) } as Draft<Pod>;
}

async function bind(sent: Binding, call: WriteCall, verbParts: BindParts): Promise<Answer> {
  const resource = requireStored(verbParts.registry, "", "pods");
  // Admission sees `pods/binding` or `bindings`, as the request was sent.
  const pass = callPass({ call, verbParts }, "CREATE");
  const binding = pass === undefined ? sent : await pass.admit(sent);
  const errors = new FieldErrors();
  checkBinding(binding, errors);
  const { name } = binding.metadata;
  if (!errors.isEmpty) throw invalid({ group: "", kind: "Binding" }, name, errors.found);
  const { isDryRun, user } = writeOptionsOf(call);
  const place = { resource, namespace: call.info.namespace, name };
  const context = { now: verbParts.loop.now(), user };
  await new ObjectWriter(verbParts, call.origin).update(
    place,
    { isDryRun, onConflict: "retry" },
    (previous) => {
      const { uid, resourceVersion } = binding.metadata;
      checkPreconditions({ uid, resourceVersion }, previous, resource);
      const why = bindingConflict(previous as Pod);
      if (why !== undefined) throw conflict({ group: "", resource: "pods/binding" }, name, why);
      const draft = draftOf(previous as Pod);
      setNode(draft, binding, context);
      const known = previous as JsonObject;
      const { value } = normal(resource.schema, shareParts(draft, previous), known);
      return { outcome: "put", object: value as ApiObject };
    },
  );
  return created();
}

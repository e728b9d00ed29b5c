/** An object as the server defines it in code: the metadata that storing adds is still absent. */
import type { ApiObject } from "../../../../api/api-object.ts";
import type { ObjectMeta } from "../../../../api/generated/types/meta-v1.ts";

export type Unstored<T extends ApiObject> = Omit<T, "metadata"> & {
  readonly metadata: ObjectMeta & { readonly name: string };
};

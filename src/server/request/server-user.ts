import type { User } from "./user.ts";

/** In whose name the server writes what it keeps itself. */
export const SERVER_USER: User = {
  name: "system:apiserver",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: {},
};
